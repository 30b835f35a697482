/**
 * Table of the fleet's locks. A lock is a row, so locking it requires UPDATE on the table. An advisory lock is open to
 * every role that can connect, even a read-only one, so a single session could stop all members.
 *
 * `history`: history lines get their numbers in commit order. `insert`: rows of new files. `jobs`: creation of
 * pg-boss's tables.
 */
export const lockTable = `CREATE TABLE dropcast.lock (name text PRIMARY KEY);
  INSERT INTO dropcast.lock VALUES ('history'), ('insert'), ('jobs');`;

/**
 * Returns a query that waits for a lock and holds it until the transaction ends.
 *
 * @param also further columns of the query's single row
 */
export function lockQuery(name: 'history' | 'insert' | 'jobs', also = ''): string {
  return `SELECT name${also} FROM dropcast.lock WHERE name = '${name}' FOR UPDATE`;
}
