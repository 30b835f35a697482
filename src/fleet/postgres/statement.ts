import type { Query, Value } from '../../ledger/work.ts';

/** A statement with PostgreSQL's placeholders. */
interface NumberedStatement {
  readonly text: string;
  readonly values: readonly Value[];
}

/** Replaces `?` placeholders with `$1`, `$2` and so on. */
export function numbered({ text, values }: Query): NumberedStatement {
  let n = 0;
  const made = texts.get(text) ?? text.replaceAll(/'[^']*'|\?/g, (found) => (found === '?' ? `$${(n += 1)}` : found));
  if (texts.size < mostTexts) texts.set(text, made);
  return { text: made, values: values.map(storable) };
}

/** Combines single-row inserts into one statement for each distinct text. */
export function inOne(queries: readonly Query[]): readonly NumberedStatement[] {
  const byText = [...Map.groupBy(queries, ({ text }) => text)];
  return byText.map(([text, of]) => {
    const values = of.flatMap((query) => query.values.map(storable));
    const width = values.length / of.length;
    const start = text.slice(0, text.lastIndexOf('('));
    const rows = of.map(
      (_query, row) => `(${Array.from({ length: width }, (_v, n) => `$${row * width + n + 1}`).join()})`,
    );
    return { text: `${start}${rows.join()}`, values };
  });
}

/** Numbered texts, because replacing the placeholders takes longer than the rest of a statement. */
const texts = new Map<string, string>();
const mostTexts = 1_000;

/** Replaces NULs and lone surrogates, which PostgreSQL cannot store. */
export function storable<T>(value: T): T | string {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\uFFFD') : value;
}

/**
 * Replaces NULs in every text in a value, at any depth. PostgreSQL accepts a NUL in JSON until a query reads inside it.
 */
export function withoutNul<T>(value: T): T {
  if (!JSON.stringify(value).includes(String.raw`\u0000`)) return value;
  return replaced(value) as T;
}

function replaced(value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  if (Array.isArray(value)) return value.map(replaced);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inside]) => [storable(name), replaced(inside)] as const));
}

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
