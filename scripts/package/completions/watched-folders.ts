/**
 * Where the configuration may be, in the words of every shell, in the order in which the program looks
 * (config/find.ts).
 */
export const configFiles = '"$DROPCAST_CONFIG" dropcast.yaml /etc/dropcast/dropcast.yaml';

/**
 * Prints the watched folders of the configuration in `$file`; the same words work in bash, zsh and fish. Starting the
 * program at every Tab would take longer. Of a configuration in another form, or of one that this user may not read,
 * nothing is found: then any directory is offered.
 */
export const printFolders = String.raw`sed -n "s|^ *- *path: *[\"']\{0,1\}\(/[^\"'#]*[^\"'# ]\).*|\1|p" "$file" 2>/dev/null`;
