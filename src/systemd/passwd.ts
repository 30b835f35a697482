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
 * The name of a user or a group; its number when the table has no name, as for those of a directory service, or one
 * that systemd and setfacl(1) would read differently: `27` is a number to them, and of two groups with one name they
 * take the first.
 *
 * @param table text of passwd(5) or group(5)
 */
export function accountName(id: number, table: string): string {
  const name = namesOf(id, table).find((each) => /^[a-z_][\w.-]*$/i.test(each) && idsOf(each, table)[0] === id);
  return name ?? String(id);
}

/**
 * All names of a user or a group. Lines with + or - in front name no account: they include others (nsswitch.conf(5),
 * "compat").
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
