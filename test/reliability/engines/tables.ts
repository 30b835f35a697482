import { storedRows } from '../simulation/machine/database.ts';
import { askPostgres } from '../simulation/machine/postgres.ts';

export type Engine = 'SQLite' | 'PostgreSQL';

/** The tables that both engines have, but for those that are about a host or an engine; see `snapshotOf`. */
const tables = [
  'file',
  'history',
  'create_request',
  'deletion',
  'pause',
  'feed_due',
  'first_start',
  'root',
  'listed_video',
  'listing',
  'audit_video',
  'audit_finding',
  'outbox',
  'news_memory',
  'expected_file',
] as const;

export type Table = (typeof tables)[number];

/** As text, in the order in which they came. */
export type Rows = readonly Row[];

export type Row = Readonly<Record<string, string | null>>;

export async function tablesOf(engine: Engine): Promise<Readonly<Record<Table, Rows>>> {
  const read = engine === 'SQLite' ? async (table: Table) => storedRows(table) : fromPostgres;
  const all = await Promise.all(tables.map(async (table) => [table, (await read(table)).map(asText)] as const));
  return Object.fromEntries(all) as unknown as Record<Table, Rows>;
}

function fromPostgres(table: Table): ReturnType<typeof askPostgres> {
  const hasNumbers = ['file', 'history', 'outbox'].includes(table);
  return askPostgres(`SELECT * FROM dropcast.${table}${hasNumbers ? ' ORDER BY seq' : ''}`);
}

/** PostgreSQL answers with whole numbers as text. */
function asText(row: Readonly<Record<string, unknown>>): Row {
  const values = row as Readonly<Record<string, string | number | null>>;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === null ? null : String(value)]),
  );
}
