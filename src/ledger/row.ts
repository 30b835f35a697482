import type { Insertable, Kysely, Selectable, SelectQueryBuilder } from 'kysely';
import { stateOf } from '../pipeline/file/facts.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import { LedgerUnavailableError } from '../pipeline/file/store-errors.ts';
import { urgencyOf } from '../pipeline/file/urgency.ts';
import type { FileTable, LedgerTables } from './schema.ts';
import { crc32 } from 'node:zlib';

type FilesQuery = SelectQueryBuilder<LedgerTables, 'file', Selectable<FileTable>>;

/** Thrown when a row was damaged on disk after the ledger was opened; the next read repairs it. */
export class DamagedRowError extends LedgerUnavailableError {
  constructor() {
    super('damaged');
  }
}

/**
 * Columns read from a row. They are listed instead of `*`, because a host with a newer release may add columns while
 * this one runs, and PostgreSQL refuses a prepared statement whose result columns have changed.
 */
export const fileColumns = [
  'seq',
  'id',
  'rev',
  'state',
  'folder',
  'path',
  'dev',
  'ino',
  'birthtime_ns',
  'size',
  'mtime_ns',
  'ctime_ns',
  'source_url',
  'plan',
  'on_duplicate',
  'after_ready',
  'discovered_at',
  'first_at',
  'urgency',
  'intent',
  'suspects',
  'video_id',
  'upload_url',
  'upload_headers',
  'upload_session',
  'created_at',
  'upload_started_at',
  'sha256',
  'uploaded_at',
  'processing_since',
  'address_dead_at',
  'dying',
  'replacements',
  'remote_status',
  'ready_at',
  'embed_url',
  'published',
  'attempts',
  'not_before',
  'end',
  'why',
  'last_failure',
  'ended_at',
  'amendment',
  'disposal',
  'owner',
  'link_file',
  'checksum',
] as const satisfies readonly (keyof FileTable)[];

/** Formats column names as an SQL list. */
export const listed = (columns: readonly string[]): string => columns.map((column) => `"${column}"`).join(', ');

/** All columns of a row, as SQL. */
export const rowColumns = listed(fileColumns);

/** Starts a query for files. */
export function filesIn(db: Kysely<LedgerTables>): FilesQuery {
  return db.selectFrom('file').select(fileColumns);
}

/** Returns the first row's facts, or null. */
export function firstFacts([row]: readonly Selectable<FileTable>[]): Facts | null {
  return row === undefined ? null : factsOf(row);
}

/** Returns the facts of every row that a query finds, in query order. */
export async function allFacts(query: FilesQuery): Promise<readonly Facts[]> {
  return (await query.execute()).map(factsOf);
}

/** Converts facts to a table row with a checksum. State and urgency are always derived from the
 * facts, never copied. */
export function rowOf(facts: Facts): Insertable<FileTable> {
  const columns = columnsOf(facts);
  return { ...columns, checksum: checksumOf(columns) };
}

function columnsOf(facts: Facts): Omit<Insertable<FileTable>, 'checksum'> {
  return {
    id: facts.id,
    rev: facts.rev,
    state: stateOf(facts),
    folder: facts.folder,
    path: facts.path,
    dev: facts.version.dev,
    ino: facts.version.ino,
    birthtime_ns: facts.version.birthtimeNs,
    size: facts.version.size,
    mtime_ns: facts.version.mtimeNs,
    ctime_ns: facts.version.ctimeNs,
    source_url: facts.sourceUrl,
    plan: json(facts.plan),
    on_duplicate: facts.onDuplicate,
    after_ready: JSON.stringify(facts.afterReady),
    discovered_at: facts.discoveredAt,
    first_at: facts.firstAt,
    urgency: urgencyOf(facts) ?? 0,
    intent: facts.intent,
    suspects: JSON.stringify(facts.suspects),
    video_id: facts.videoId,
    upload_url: facts.uploadUrl,
    upload_headers: json(facts.uploadHeaders),
    upload_session: json(facts.uploadSession),
    created_at: facts.createdAt,
    upload_started_at: facts.uploadStartedAt,
    sha256: facts.sha256,
    uploaded_at: facts.uploadedAt,
    processing_since: facts.processingSince,
    address_dead_at: facts.addressDeadAt,
    dying: facts.dying ? 1 : 0,
    replacements: facts.replacements,
    remote_status: facts.remoteStatus,
    ready_at: facts.readyAt,
    embed_url: facts.embedUrl,
    published: JSON.stringify(facts.published),
    attempts: facts.attempts,
    not_before: facts.notBefore === null ? null : Math.round(facts.notBefore),
    end: facts.end,
    why: facts.why,
    last_failure: json(facts.lastFailure),
    ended_at: facts.endedAt,
    amendment: json(facts.amendment),
    disposal: facts.disposal,
    owner: facts.owner,
    link_file: json(facts.linkFile),
  };
}

/**
 * Converts a row to facts: the inverse of `rowOf`. Only `rowOf` writes these columns, and the checksum guards them, so
 * the JSON is trusted.
 *
 * @throws {DamagedRowError} if the checksum does not match
 */
export function factsOf(row: Selectable<FileTable>): Facts {
  if (row.checksum !== null && checksumOf(row) !== row.checksum) throw new DamagedRowError();
  return {
    id: row.id,
    rev: row.rev,
    folder: row.folder,
    path: row.path,
    version: versionOf(row),
    sourceUrl: row.source_url,
    plan: parsed(row.plan) as Facts['plan'],
    onDuplicate: row.on_duplicate as Facts['onDuplicate'],
    afterReady: JSON.parse(row.after_ready) as Facts['afterReady'],
    discoveredAt: row.discovered_at,
    firstAt: row.first_at,
    intent: row.intent,
    suspects: JSON.parse(row.suspects) as Facts['suspects'],
    videoId: row.video_id,
    uploadUrl: row.upload_url,
    uploadHeaders: parsed(row.upload_headers) as Facts['uploadHeaders'],
    uploadSession: parsed(row.upload_session) as Facts['uploadSession'],
    createdAt: row.created_at,
    uploadStartedAt: row.upload_started_at,
    sha256: row.sha256,
    uploadedAt: row.uploaded_at,
    processingSince: row.processing_since,
    addressDeadAt: row.address_dead_at,
    dying: row.dying === 1,
    replacements: row.replacements,
    remoteStatus: row.remote_status,
    readyAt: row.ready_at,
    embedUrl: row.embed_url,
    published: JSON.parse(row.published) as Facts['published'],
    attempts: row.attempts,
    notBefore: row.not_before,
    end: row.end as Facts['end'],
    why: row.why,
    lastFailure: parsed(row.last_failure) as Facts['lastFailure'],
    endedAt: row.ended_at,
    amendment: parsed(row.amendment) as Facts['amendment'],
    disposal: row.disposal as Facts['disposal'],
    owner: row.owner,
    linkFile: parsed(row.link_file) as Facts['linkFile'],
  };
}

/** Reads a row's version columns. */
export function versionOf(
  row: Pick<Selectable<FileTable>, 'dev' | 'ino' | 'birthtime_ns' | 'size' | 'mtime_ns' | 'ctime_ns'>,
): FileVersion {
  return {
    dev: row.dev,
    ino: row.ino,
    birthtimeNs: row.birthtime_ns,
    size: row.size,
    mtimeNs: row.mtime_ns,
    ctimeNs: row.ctime_ns,
  };
}

function json(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

function parsed(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}

/**
 * Returns a row's checksum: CRC-32 over its columns, ordered by name, without `seq` and `checksum`. It detects flipped
 * bits inside a column, which `integrity_check` cannot see.
 */
export function checksumOf(row: Readonly<Record<string, unknown>>): number {
  const names = summed(Object.keys(row));
  return checksumOfValues(
    names,
    names.map((name) => wellFormed(row[name])),
  );
}

/**
 * @param names of the columns, in checksum order
 * @param values of these columns
 */
export function checksumOfValues(names: readonly string[], values: readonly unknown[]): number {
  return crc32(JSON.stringify(values.filter((value, n) => value !== null || !laterColumns.has(names[n] ?? ''))));
}

/**
 * Columns that are younger than some rows. Empty, they are not part of the checksum, so a row from before keeps its own.
 * A schema step that adds a column to `file` or `history` adds its name here, and the column is null in older rows.
 */
const laterColumns: ReadonlySet<string> = new Set(['failure']);

/** Returns the columns that a checksum covers, in checksum order. */
export function summed(names: readonly string[]): readonly string[] {
  const key = names.join();
  const known = orders.get(key);
  if (known !== undefined) return known;
  const order = names.filter((name) => name !== 'seq' && name !== 'checksum').toSorted();
  orders.set(key, order);
  return order;
}

/** Cache for the few distinct column lists: sorting forty names took longer than the checksum. */
const orders = new Map<string, readonly string[]>();

/** Replaces lone surrogates, which the service may send. SQLite stores UTF-8 and returns them as U+FFFD. */
function wellFormed(value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}
