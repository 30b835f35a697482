import { allCommands } from '../command-tree.ts';
import type { CommandDocument, OptionDocument, Value } from '../command-tree.ts';
import { flagsOf, optionsWithValue } from './flags.ts';
import { configFiles, printFolders } from './watched-folders.ts';

/** For /usr/share/bash-completion/completions; works without that package's functions too. */
export function bashCompletion(program: CommandDocument): string {
  const commands = allCommands(program);
  return `# bash completion for dropcast(8), made of the program itself.

_dropcast() {
  local word path='' option='' index cur=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  # COMP_WORDBREAKS makes three words of --state=done.
  [[ $cur == = ]] && cur=''
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    if [[ $word == = ]]; then
      continue
    elif [[ -n $option ]]; then
      option=''
    elif [[ $word == -* ]]; then
      case "$path $word" in
${patterns(
  commands.flatMap((command) =>
    optionsWithValue(command).flatMap((option) => flagsOf(option).map((flag) => `${command.path} ${flag}`)),
  ),
  8,
)}
        option=$word ;;
      esac
    else
      case "$path \${word}" in
${patterns(
  commands.flatMap(({ path, commands: below }) =>
    below.map((child) => `${path} ${child.path.slice(path.length).trim()}`),
  ),
  8,
)}
        path="\${path:+$path }$word" ;;
      esac
    fi
  done
  if [[ -n $option ]]; then
    _dropcast_value "$path $option" "$cur"
  elif [[ $cur == -* ]]; then
    _dropcast_words "$(_dropcast_options "$path")" "$cur"
  else
    _dropcast_operand "$path" "$cur"
  fi
}

# One word a line, as states have blanks in them; these are escaped for the command line.
_dropcast_words() {
  local words
  mapfile -t words < <(IFS=$'\\n'; compgen -W "$1" -- "$2")
  ((\${#words[@]} > 0)) && mapfile -t COMPREPLY < <(printf '%q\\n' "\${words[@]}")
}

# The last of several, separated by commas.
_dropcast_list() {
  local before='' word last=\${2##*,}
  [[ $2 == *,* ]] && before=\${2%,*},
  _dropcast_words "$1" "\${last//\\\\/}"
  for word in "\${!COMPREPLY[@]}"; do COMPREPLY[word]=$before\${COMPREPLY[word]}; done
  compopt -o nospace 2>/dev/null
}

_dropcast_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
}

_dropcast_folders() {
  local file folders=''
  for file in ${configFiles}; do
    [[ -r $file ]] && folders=$(${printFolders}) && break
  done
  _dropcast_words "$folders" "$1"
  ((\${#COMPREPLY[@]} > 0)) || _dropcast_files -d "$1"
}

_dropcast_options() {
  case $1 in
${commands.map(({ path, options }) => `  '${path}') echo '${options.flatMap(flagsOf).join('\n')}' ;;`).join('\n')}
  esac
}

_dropcast_value() {
  case $1 in
${commands.flatMap((command) => optionsWithValue(command).map((option) => valueCase(command, option))).join('\n')}
  esac
}

_dropcast_operand() {
  case $1 in
${commands.map(operandCase).join('\n')}
  esac
}

complete -F _dropcast dropcast
`;
}

/** Each in quotes, one a line, and a closing bracket. */
function patterns(words: readonly string[], indent: number): string {
  return `${' '.repeat(indent - 2)}${words.map((word) => `'${word}'`).join(` | \\\n${' '.repeat(indent)}`)})`;
}

function valueCase(command: CommandDocument, option: OptionDocument): string {
  const places = flagsOf(option).map((flag) => `'${command.path} ${flag}'`);
  return `  ${places.join(' | ')}) ${option.value === null ? ':' : action(option.value)} ;;`;
}

function operandCase({ path, commands, arguments: [first] }: CommandDocument): string {
  const words = commands.map((child) => child.path.split(' ').at(-1)).join('\n');
  const does = words === '' ? action(first?.value ?? { kind: 'text' }) : `_dropcast_words '${words}' "$2"`;
  return `  '${path}') ${does} ;;`;
}

function action(value: Value): string {
  switch (value.kind) {
    case 'file':
      return '_dropcast_files -f "$2"';
    case 'directory':
      return '_dropcast_files -d "$2"';
    case 'watched':
      return '_dropcast_folders "$2"';
    case 'one':
      return `_dropcast_words '${value.of.join('\n')}' "$2"`;
    case 'list':
      return `_dropcast_list '${value.of.join('\n')}' "$2"`;
    case 'text':
      break;
  }
  return ':';
}
