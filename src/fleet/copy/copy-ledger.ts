import { createHash } from 'node:crypto';
import { withFolder } from '../../pipeline/expectation.ts';
import { LedgerError } from '../../ledger/ledger-error.ts';
import { storable, withoutNul } from '../postgres/statement.ts';
import type { StoredRow, Value } from '../../ledger/work.ts';
import type { LedgerTables } from '../../ledger/schema.ts';

interface CopiedTable {
  /** The columns that identify a row. */
  readonly key: readonly string[];
  /** The column that names a folder. */
  readonly folder?: string;
  /** The column that names an expectation; the name begins with its folder. */
  readonly expectation?: string;
  /** JSON columns that PostgreSQL parses. An escaped NUL is not allowed in them. */
  readonly json?: readonly string[];
}

export const tables: Readonly<Record<Table, CopiedTable>> = {
  file: {
    key: ['seq'],
    folder: 'folder',
    json: ['plan', 'after_ready', 'suspects', 'published', 'last_failure', 'amendment'],
  },
  history: { key: ['seq'], json: ['failure'] },
  budget: { key: ['id'] },
  create_request: { key: ['token'] },
  deletion: { key: ['video_id'] },
  identity: { key: ['id'] },
  root: { key: ['folder'], folder: 'folder' },
  first_start: { key: ['folder'], folder: 'folder' },
  listed_video: { key: ['id'] },
  listing: { key: ['id'] },
  audit_video: { key: ['id'] },
  audit_finding: { key: ['kind', 'file_id'] },
  pause: { key: ['folder'], folder: 'folder' },
  feed_due: { key: ['feed'] },
  outbox: { key: ['seq'] },
  news_memory: { key: ['name'] },
  event: { key: ['seq'] },
  expected_file: { key: ['expectation', 'file_id'], expectation: 'expectation' },
};

/** Tables in which a new ledger already has a row. */
const bornWith: readonly Table[] = ['identity', 'budget'];

export interface Copied {
  readonly table: Table;
  readonly rows: number;
  /** Checksum of all rows, equal on both sides. */
  readonly checksum: string;
}

export interface CopyOptions {
  /** Translates a folder to its name in the other ledger. */
  translated(folder: string, table: Table): string;
  onProgress?(progress: { readonly table: Table; readonly rows: number; readonly of: number }): void;
}

/** Rows per statement. A file has 45 columns, and SQLite allows at most 32,766 bound values. */
const BATCH = 500;

/**
 * Copies every row of a ledger into an empty one, including row numbers and the ledger's identity, then reads the copy
 * back to compare. An existing copy is only compared. Both sides are in a transaction, which the caller commits, or
 * rolls back if this throws.
 *
 * @throws {LedgerError} if the target is not empty, or the rows read back differ from those written
 */
export async function copyLedger(from: Side, to: Side, options: CopyOptions): Promise<readonly Copied[]> {
  const before = await copiedBefore({ from, to, ...options });
  if (before !== null) return before;
  await requireEmpty(to);
  for (const table of bornWith) await to.ask(`DELETE FROM ${table}`);
  const copied: Copied[] = [];
  for (const table of allTables) copied.push(await copyTable(table, { from, to, ...options }));
  return copied;
}

const allTables = Object.keys(tables) as readonly Table[];

/** Checks that a ledger is empty. @throws {LedgerError} if it has rows that a new ledger lacks */
export async function requireEmpty(side: Side): Promise<void> {
  for (const table of allTables.filter((each) => !bornWith.includes(each))) {
    const rows = await count(side, table);
    if (rows > 0)
      throw new LedgerError(
        `${side.name} already has a ledger that is not empty (${rows} rows in the table ${table}); nothing was copied`,
      );
  }
}

/** Compares an existing copy. @returns null if the target is not a row-for-row copy of this ledger */
async function copiedBefore({ from, to, translated }: Copying): Promise<readonly Copied[] | null> {
  if ((await identityOf(from)) !== (await identityOf(to))) return null;
  const copied: Copied[] = [];
  for (const table of allTables) {
    const names = await commonColumns(table, from, to);
    const sum = await sumOf(from, table, names, (row) => inWordsOf(table, row, translated));
    if ((await sumOf(to, table, names)).hex !== sum.hex) return null;
    copied.push({ table, rows: sum.rows, checksum: sum.hex });
  }
  return copied;
}

interface Copying extends CopyOptions {
  readonly from: Side;
  readonly to: Side;
}

async function copyTable(table: Table, { from, to, translated, onProgress }: Copying): Promise<Copied> {
  const names = await commonColumns(table, from, to);
  const of = await count(from, table);
  const sent = new RowSum();
  for await (const batch of batches(from, table, names)) {
    const translatedRows = batch.map((row) => inWordsOf(table, row, translated));
    for (const row of translatedRows) sent.add(names.map((name) => row[name]));
    await to.insert(
      table,
      translatedRows.map((row) => to.completed(table, row)),
    );
    onProgress?.({ table, rows: sent.rows, of });
  }
  const arrived = await sumOf(to, table, names);
  if (sent.rows !== of || arrived.rows !== of || arrived.hex !== sent.hex)
    throw new LedgerError(
      `the copy of the table ${table} differs: ${of} rows in ${from.name}, ${arrived.rows} in ${to.name}; nothing was copied`,
    );
  return { table, rows: of, checksum: sent.hex };
}

/**
 * Returns the columns that both stores have. Only SQLite has row checksums; only a fleet has search columns and the
 * host that wrote a row.
 */
async function commonColumns(table: Table, from: Side, to: Side): Promise<readonly string[]> {
  const theirs = await to.columns(table);
  const common = (await from.columns(table)).filter((name) => theirs.includes(name) && name !== 'checksum');
  const missing = tables[table].key.filter((name) => !common.includes(name));
  if (missing.length > 0) throw new LedgerError(`${to.name} has no table ${table} of this version`);
  return common;
}

async function* batches(side: Side, table: Table, names: readonly string[]): AsyncGenerator<readonly StoredRow[]> {
  const key = tables[table].key.map(quoted).join(', ');
  const marks = tables[table].key.map(() => '?').join(', ');
  const select = `SELECT ${names.map(quoted).join(', ')} FROM ${table}`;
  let last: readonly Value[] | null = null;
  for (;;) {
    const where = last === null ? '' : `WHERE (${key}) > (${marks})`;
    const rows = await side.ask(`${select} ${where} ORDER BY ${key} LIMIT ${BATCH}`, last ?? []);
    if (rows.length > 0) yield rows;
    if (rows.length < BATCH) return;
    const end = rows.at(-1) ?? {};
    last = tables[table].key.map((name) => end[name] ?? null);
  }
}

/** Translates a row for the other ledger: its folder, and text that PostgreSQL cannot store (NUL, lone surrogates). */
function inWordsOf(table: Table, row: StoredRow, translated: CopyOptions['translated']): StoredRow {
  const { folder, expectation, json } = tables[table];
  const named = (text: string): string => translated(text, table);
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (typeof value !== 'string') return [name, value];
      const text = json?.includes(name) === true ? jsonWithoutNul(value) : storable(value);
      if (name === expectation) return [name, withFolder(text, named)];
      return [name, name === folder && text !== '' ? named(text) : text];
    }),
  );
}

function jsonWithoutNul(text: string): string {
  const value = JSON.parse(text) as unknown;
  const kept = withoutNul(value);
  return kept === value ? text : JSON.stringify(kept);
}

async function sumOf(
  side: Side,
  table: Table,
  names: readonly string[],
  inWords = (row: StoredRow): StoredRow => row,
): Promise<RowSum> {
  const sum = new RowSum();
  for await (const batch of batches(side, table, names)) {
    for (const row of batch.map(inWords)) sum.add(names.map((name) => row[name]));
  }
  return sum;
}

export async function identityOf(side: Side): Promise<string> {
  const [row] = await side.ask('SELECT ledger FROM identity');
  return String(row?.['ledger']);
}

async function count(side: Side, table: Table): Promise<number> {
  const [row] = await side.ask(`SELECT count(*) AS n FROM ${table}`);
  return Number(row?.['n'] ?? 0);
}

/** Quotes a column name: `end` and `by` are SQL keywords. */
function quoted(name: string): string {
  return `"${name}"`;
}

/**
 * Checksum of a set of rows, independent of their order. Folders have different names on the two sides, so their rows
 * sort differently.
 */
class RowSum {
  readonly #lanes = new BigUint64Array(4);
  #rows = 0;

  add(values: readonly unknown[]): void {
    const digest = createHash('sha256').update(JSON.stringify(values)).digest();
    for (const lane of this.#lanes.keys())
      this.#lanes[lane] = (this.#lanes[lane] ?? 0n) + digest.readBigUInt64BE(lane * 8);
    this.#rows += 1;
  }

  get rows(): number {
    return this.#rows;
  }

  get hex(): string {
    return [...this.#lanes].map((lane) => lane.toString(16).padStart(16, '0')).join('');
  }
}

export type Table = keyof LedgerTables;

/**
 * The source or target of a copy. Each side is in one transaction, so reads see one snapshot and writes are all or
 * nothing.
 */
export interface Side {
  /** Display name. */
  readonly name: string;
  columns(table: Table): Promise<readonly string[]>;
  /** Runs a statement; `values` replace its `?` placeholders. */
  ask(text: string, values?: readonly Value[]): Promise<readonly StoredRow[]>;
  /** Adds the columns that only this store has, such as checksums and search columns. */
  completed(table: Table, row: StoredRow): StoredRow;
  /** Inserts rows with their existing numbers. */
  insert(table: Table, rows: readonly StoredRow[]): Promise<void>;
}

/** Builds the statement that inserts rows. @param clause text between columns and values */
export function insertion(table: Table, rows: readonly StoredRow[], clause = ''): { text: string; values: Value[] } {
  const names = Object.keys(rows[0] ?? {});
  const marks = `(${names.map(() => '?').join(', ')})`;
  return {
    text: `INSERT INTO ${table} (${names.map((name) => `"${name}"`).join(', ')}) ${clause} VALUES ${rows.map(() => marks).join(', ')}`,
    values: rows.flatMap((row) => names.map((name) => row[name] ?? null)),
  };
}
