/** The user that the service runs as, as far as permissions go. */
export interface ServiceUser {
  readonly uid: number;
  /** Of all its groups. */
  readonly gids: ReadonlySet<number>;
  readonly home: string;
}

/**
 * A user by name, of the texts of passwd(5) and group(5).
 *
 * @returns null when there is none of that name
 */
export function findUser(name: string, passwd: string, group: string): ServiceUser | null {
  const [, , uid = '', gid = '', , home = '/'] = linesOf(passwd).find(([user]) => user === name) ?? [];
  if (uid === '') return null;
  const others = linesOf(group).flatMap(([, , id, members = '']) =>
    members.split(',').includes(name) ? [Number(id)] : [],
  );
  return { uid: Number(uid), gids: new Set([Number(gid), ...others]), home };
}

/** The name of a group, or its number when group(5) has none for it, as with groups of a directory service. */
export function groupName(gid: number, group: string): string {
  return linesOf(group).find(([, , id]) => Number(id) === gid)?.[0] ?? String(gid);
}

function linesOf(table: string): readonly (readonly string[])[] {
  return table
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(':'));
}
