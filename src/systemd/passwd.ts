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

/**
 * The name of a user or a group, or its number when there is none for it, as with those of a directory service.
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
