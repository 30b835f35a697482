/**
 * The locks of a fleet are rows: to lock one, a role needs UPDATE on its table. An advisory lock would be open to every
 * role that can connect, even a read-only one, and a single session could then stop all members.
 *
 * `history`: lines of the history get their numbers in the order of the commits. `insert`: rows of new files. `jobs`:
 * creation of pg-boss's tables.
 */
export const lockTable = `CREATE TABLE dropcast.lock (name text PRIMARY KEY);
  INSERT INTO dropcast.lock VALUES ('history'), ('insert'), ('jobs');`;

/**
 * A query that waits for a lock and holds it until the end of the transaction. @param also further columns of its one
 * row
 */
export function lockQuery(name: 'history' | 'insert' | 'jobs', also = ''): string {
  return `SELECT name${also} FROM dropcast.lock WHERE name = '${name}' FOR UPDATE`;
}
