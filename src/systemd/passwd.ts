/** The user that the service runs as. */
export interface ServiceUser {
  readonly uid: number;
  /** All its groups. */
  readonly gids: ReadonlySet<number>;
  readonly home: string;
}

/**
 * Finds a user by name.
 *
 * @param passwd text of passwd(5)
 * @param group text of group(5)
 * @returns null when there is no such user
 */
export function findUser(name: string, passwd: string, group: string): ServiceUser | null {
  const [, , uid = '', gid = '', , home = '/'] = linesOf(passwd).find(([user]) => user === name) ?? [];
  if (uid === '') return null;
  const others = linesOf(group).flatMap(([, , id, members = '']) =>
    members.split(',').includes(name) ? [Number(id)] : [],
  );
  return { uid: Number(uid), gids: new Set([Number(gid), ...others]), home };
}

/**
 * The name of a user or a group; its number when the table has no name, as for those of a directory service.
 *
 * @param table text of passwd(5) or group(5)
 */
export function accountName(id: number, table: string): string {
  return linesOf(table).find(([, , number]) => Number(number) === id)?.[0] ?? String(id);
}

function linesOf(table: string): readonly (readonly string[])[] {
  return table
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(':'));
}
