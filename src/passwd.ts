/** The user that the service runs as. */
export interface ServiceUser {
  readonly uid: number;
  /** All groups of the user. */
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
 * Returns the name of a user or a group. Returns the number instead if the table has no name, as for accounts from a
 * directory service, or if systemd and setfacl(1) would read the name differently: they take `27` for a number, and the
 * first of two groups with the same name.
 *
 * @param table text of passwd(5) or group(5)
 */
export function accountName(id: number, table: string): string {
  const name = namesOf(id, table).find((each) => /^[a-z_][\w.-]*$/i.test(each) && idsOf(each, table)[0] === id);
  return name ?? String(id);
}

/**
 * Returns all names of a user or a group. Lines starting with + or - are not accounts: they include other sources
 * (nsswitch.conf(5), "compat").
 */
export function namesOf(id: number, table: string): readonly string[] {
  return linesOf(table).flatMap(([name = '', , number]) =>
    Number(number) === id && !/^[+-]/.test(name) ? [name] : [],
  );
}

function idsOf(name: string, table: string): readonly number[] {
  return linesOf(table).flatMap(([each, , number]) => (each === name ? [Number(number)] : []));
}

function linesOf(table: string): readonly (readonly string[])[] {
  return table
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(':'));
}
