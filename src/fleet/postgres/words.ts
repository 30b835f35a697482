import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { AlreadyKnownError } from '../../pipeline/file/ports.ts';
import type { SeenFolders } from '../../pipeline/file/ports.ts';
import { LedgerUnavailableError } from '../../pipeline/file/store-errors.ts';
import { longestText, causeKey } from '../../pipeline/file/selection.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { fileColumns, listed } from '../../ledger/row.ts';
import { rowStage, isSeen } from '../../ledger/words.ts';
import type { SqlWords } from '../../ledger/words.ts';
import { ask } from '../../ledger/work.ts';
import { isSettled, settling } from './outcome.ts';
import { lockQuery, withoutNul, storable } from './statement.ts';
import { createHash } from 'node:crypto';
import { bigBytes, priorities, priorityOf } from '../../pipeline/file/queue.ts';
import { urgencyOf } from '../../pipeline/file/urgency.ts';
import type { Value } from '../../ledger/work.ts';

/** Columns that the writer fills from a row's facts: see `derivedOf`. */
const inside: SqlWords['inside'] = {
  folder: 'folder_key',
  path: 'path_key',
  stage: rowStage('code'),
  queue: 'queue',
  channel: 'channel',
  feeds: 'feeds',
  title: 'title',
  code: 'code',
  cause: 'cause',
  extension: 'extension',
  twin: 'twin',
  likeness: 'likeness',
  dueAt: 'due_at',
  whenFull: 'when_full',
  kind: 'kind',
  missingFeed: 'missing_feed',
  overKind: 'over_kind',
};

/** Columns of the file table that are derived from other columns. */
const derivedColumns = [
  'folder_key',
  'path_key',
  'queue',
  'channel',
  'feeds',
  'title',
  'code',
  'kind',
  'cause',
  'extension',
  'twin',
  'likeness',
  'missing_feed',
  'over_kind',
  'due_at',
  'when_full',
] as const;

const allColumns = listed([...fileColumns, ...derivedColumns, 'host']);

/**
 * Returns the SQL for a ledger that several hosts share.
 *
 * @param host name of this host
 * @param visible folders, by name in rows, whose files this host can read; null: all folders
 */
export function postgresWords(host: string, visible: () => SeenFolders | null): SqlWords {
  return {
    inside,
    key: keyOf,
    keyStart: startOf,
    unique: (column) => `hashtextextended(${column}, 0)`,
    by: () => 'file',
    unindexed: (column) => column,
    // With `=`, PostgreSQL assumes an even distribution, so it may scan all rows in order until it has found enough.
    isIn: (column, value) => `${column} BETWEEN ${value} AND ${value}`,
    orderIn: (column) => `${column}, urgency, seq`,
    texts: (values) => sql`(select value from jsonb_array_elements_text(${listOf(values)}::jsonb) as listed (value))`,
    numbers: (values) =>
      sql`(select value::bigint from jsonb_array_elements_text(${listOf(values)}::jsonb) as listed (value))`,
    textList: '(SELECT value FROM jsonb_array_elements_text(?::jsonb) AS listed (value))',
    numberList: '(SELECT value::bigint FROM jsonb_array_elements_text(?::jsonb) AS listed (value))',
    // A function in FROM can use columns of the tables before it; a subquery cannot.
    elements: (column) => `json_array_elements_text(${column}::json)`,
    names: (column) => `(SELECT value FROM json_object_keys(${column}::json) AS listed (value))`,
    hasText,
    isCopyOf: (path, stem, ending) => {
      const [name, end] = [stem, ending].map((text) => text.replaceAll(/[\\^$.|?*+()[\]{}]/g, String.raw`\$&`));
      return sql<boolean>`('/' || ${sql.raw(path)}) ~ ${`(^|/)${name}( [(][1-9].*[)])?${end}$`}`;
    },
    forWrite: ' FOR UPDATE',
    allColumns,
    // Any member may poll a file after it was sent, so the row keeps the host that sent it.
    beside: (facts, before) => {
      const isSent = before !== undefined && before['uploaded_at'] !== null;
      return { ...derivedOf(facts), host: isSent ? (before['host'] ?? host) : host };
    },
    kept: withoutNul,
    *beforeInsert(facts, instead) {
      // All inserts share one lock, so two hosts that add many files cannot deadlock.
      const [found] = yield* ask(lockQuery('insert', `, (${isSettled})::int AS settled`));
      if (found?.['settled'] !== 1) throw new LedgerUnavailableError('busy', { sentence: settling });
      const [known] = yield* ask(sameVersion, [...sameVersionOf(facts), instead ?? '']);
      if (known !== undefined) throw new AlreadyKnownError(`${facts.folder}/${facts.path} was added by another host`);
    },
    // As a join condition, `numbers` would be evaluated for each row of each queue.
    queueWith: (numbers) =>
      sql`queue cross join lateral (${numbers}) as head (head_seq) join file on file.seq = head.head_seq`,
    isOfHost: (name) => sql<boolean>`host = ${name}`,
    mayBeTaken: () => sql<boolean>`not exists (select 1 from dropcast_jobs.job
      where job.name = 'file' and job.singleton_key = file.id and job.state = 'active')`,
    canRead: (folder) => {
      const seen = visible();
      return seen === null
        ? sql<boolean>`true`
        : isSeen({ ...seen, names: seen.names.map(keyOf), without: seen.without.map(keyOf) }, folder);
    },
  };
}

const sameVersion = `SELECT id FROM file WHERE folder_key = ? AND path_key = ? AND ino = ? AND birthtime_ns = ? AND size = ? AND mtime_ns = ?
  AND state <> 'superseded' AND id <> ? LIMIT 1`;

function sameVersionOf({ folder, path, version: { ino, birthtimeNs, size, mtimeNs } }: Facts) {
  return [keyOf(folder), keyOf(path), ino, birthtimeNs, size, mtimeNs];
}

/** Encodes values as JSON that PostgreSQL accepts: no NULs and no lone surrogates. */
function listOf(values: readonly (string | number)[]): string {
  return JSON.stringify(
    values.map((value) => (typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\u{FFFD}') : value)),
  );
}

function hasText(text: string, columns: readonly RawBuilder<unknown>[]): RawBuilder<boolean> {
  if (text.length > longestText || text.includes('\0')) return sql<boolean>`1 = 0`;
  // macOS stores `ü` in file names as two characters; a keyboard sends one.
  const spellings = [...new Set([text.normalize('NFC'), text.normalize('NFD')])];
  const patterns = spellings.map((spelling) => Array.from(spelling.toWellFormed(), anyCase).join(''));
  const found = patterns.flatMap((pattern) => columns.map((column) => sql`${column} ~ ${pattern}`));
  return sql<boolean>`(${sql.join(found, sql` or `)})`;
}

/**
 * Returns a pattern for a letter in all its cases, independent of the database's locale. Omits cases with several
 * letters, such as the upper case of `ß`.
 */
function anyCase(letter: string): string {
  const cases = [...new Set([letter, letter.toLowerCase(), letter.toUpperCase()])].filter(
    (one) => Array.from(one).length === 1,
  );
  const plain = cases.map((one) => one.replaceAll(/[\\^$.|?*+()[\]{}]/g, String.raw`\$&`));
  return plain.length === 1 ? (plain[0] ?? '') : `(${plain.join('|')})`;
}

/**
 * Returns values inside other columns that files are searched by. Pure. SQLite indexes expressions instead; PostgreSQL
 * would reject a row whose JSON has a NUL in a text, which a service may send.
 */
export function derivedOf(facts: Facts): Readonly<Record<(typeof derivedColumns)[number] | 'checksum', Value>> {
  const { folder, path, plan, version, lastFailure, afterReady, endedAt } = facts;
  const cause = causeKey(facts);
  const later = 'later' in afterReady ? (afterReady.later ?? null) : null;
  const afterMs = later?.afterMs ?? null;
  return {
    folder_key: keyOf(folder),
    path_key: keyOf(path),
    queue: `${priorities.indexOf(priorityOf(plan))}${version.size > bigBytes ? 1 : 0}${urgencyOf(facts) === null ? 0 : 1}${keyOf(folder)}`,
    channel: plan?.channel ?? null,
    feeds: plan === null ? null : JSON.stringify(plan.publish),
    title: plan?.title ?? null,
    code: lastFailure?.code ?? null,
    kind: lastFailure?.kind ?? null,
    cause: cause === null ? null : startOf(cause),
    extension: extensionOf(path),
    twin: lastFailure?.twin ?? null,
    likeness: lastFailure?.likeness === undefined ? null : JSON.stringify(lastFailure.likeness),
    missing_feed: lastFailure?.feed ?? null,
    over_kind: lastFailure?.over?.kind ?? null,
    due_at: endedAt === null || afterMs === null ? null : endedAt + afterMs,
    when_full: later?.whenFull ?? null,
    // Only rows in a ledger file have a checksum.
    checksum: null,
  };
}

/** Returns the extension, such as `mkv`; empty if there is none, or an unlikely one. */
function extensionOf(path: string): string {
  const dot = path.lastIndexOf('.');
  const ending = dot === -1 ? '' : path.slice(dot + 1);
  return /^[a-zA-Z0-9]{0,8}$/.test(ending) ? ending.toLowerCase() : '';
}

/** Longest text that is its own key, in bytes. A B-tree entry may have 2,704 bytes, and contains two keys. */
const longest = 1_000;

/**
 * Returns the index key for a text. Pure. A short text is its own key. The key for a long text is its beginning, which
 * gives the order, and a hash of the whole text; it is longer than any short key
 * ([why](../../../docs/decisions/0072-one-text-for-two-stores.md)).
 */
function keyOf(text: string): string {
  const whole = storable(text);
  const start = startOf(whole);
  return start === whole ? whole : `${start}${createHash('sha256').update(whole).digest('hex')}`;
}

/** Returns the part of a text that its key begins with. */
function startOf(text: string): string {
  // A UTF-16 unit takes at most three bytes in UTF-8; a surrogate pair takes four.
  if (text.length * 3 <= longest) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= longest) return text;
  let end = longest;
  while (isInsideLetter(bytes.readUInt8(end))) end -= 1;
  return bytes.toString('utf8', 0, end);
}

function isInsideLetter(byte: number): boolean {
  return (byte & 0b1100_0000) === 0b1000_0000;
}
