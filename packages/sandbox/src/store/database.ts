import { closeSync, fchmodSync, openSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

/**
 * Thrown when the data folder cannot be used: another sandbox has it open, another version wrote it, or it is unusable.
 */
export class DataFolderError extends Error {
  override readonly name = 'DataFolderError';
  readonly reason: 'in use' | 'another version' | 'unusable';

  /** @param message names the folder and states what to do */
  constructor(reason: DataFolderError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/**
 * Opens or creates the records, readable by their owner only, for one process at a time.
 * @param path `:memory:` for records that are discarded when the process exits
 * @param beforeCreation called before records are created in a file; throwing prevents the creation
 * @throws DataFolderError
 */
export function openDatabase(path: string, beforeCreation?: () => void): DatabaseSync {
  try {
    if (path === ':memory:') return openPrepared(path);
    makePrivate(path);
    return openPrepared(path, beforeCreation);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof DataFolderError) throw error;
    if (/locked/.test(error.message))
      throw new DataFolderError(
        'in use',
        `${path} is in use by another sandbox. Stop that one, or use another folder.`,
        { cause: error },
      );
    if (isDamage(error)) throw damaged(path, error.message, error);
    throw new DataFolderError('unusable', `cannot open ${path}: ${error.message}`, { cause: error });
  }
}

/** Returns whether the error is SQLITE_CORRUPT or SQLITE_NOTADB (https://sqlite.org/rescode.html). */
function isDamage(error: Error): boolean {
  return 'errcode' in error && [11, 26].includes(Number(error.errcode) & 0xff);
}

function damaged(path: string, what: string, cause?: Error): DataFolderError {
  const message = `${path} is damaged (${what.replaceAll('\n', ' ')}). Use another folder, or delete this one to start over.`;
  return new DataFolderError('unusable', message, { cause });
}

/**
 * Restricts the file to its owner, because the database holds webhook secrets. SQLite gives its side files the same
 * mode.
 */
function makePrivate(path: string): void {
  const file = openSync(path, 'a', 0o600);
  fchmodSync(file, 0o600);
  closeSync(file);
}

function openPrepared(path: string, beforeCreation?: () => void): DatabaseSync {
  const database = path === ':memory:' ? openUnnamed() : openFile(path);
  try {
    prepareSchema(database, path, beforeCreation);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Opens a database that is kept in memory up to 16 MB; the rest goes to a file that SQLite has already deleted
 * (https://sqlite.org/inmemorydb.html). With 100,000 videos it needs 80 MB less memory than a purely in-memory
 * database, and an import over them 160 MB less.
 */
function openUnnamed(): DatabaseSync {
  const database = openFile('');
  database.exec('PRAGMA cache_size = -16384');
  return database;
}

/** Loads `node:sqlite` only here: as an import, it would keep an older Node from naming the version it needs. */
function openFile(path: string): DatabaseSync {
  const { DatabaseSync: Database } = process.getBuiltinModule('node:sqlite');
  return new Database(path);
}

/** Runs `work` as one transaction, or as part of the transaction that is already open. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  if (database.isTransaction) return work();
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK'); // on a full disk SQLite has already rolled back
    throw error;
  }
}

/**
 * Reads the current era, which determines the files that belong to the records. It is kept in the `application_id` of
 * the database header, which SQLite leaves to the application and which transactions cover.
 */
export function readEra(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA application_id').get()?.['application_id']);
}

/** @param era 1 to 2,147,483,647 */
export function writeEra(database: DatabaseSync, era: number): void {
  database.exec(`PRAGMA application_id = ${era}`);
}

function prepareSchema(database: DatabaseSync, path: string, beforeCreation?: () => void): void {
  // EXCLUSIVE keeps the lock until close. NORMAL survives a process crash, which is enough for a local stand-in.
  database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  inTransaction(database, () => {
    const version = database.prepare('PRAGMA user_version').get()?.['user_version'];
    if (version === SCHEMA_VERSION) return requireWhole(database, path);
    if (version !== 0)
      throw new DataFolderError(
        'another version',
        `${path} was written by another version of the sandbox (schema ${String(version)}; this version reads ${SCHEMA_VERSION}). Use another folder, or delete this one to start over.`,
      );
    if (tablesOf(database).size > 0) throw ofAnotherProgram(path);
    beforeCreation?.();
    database.exec(SCHEMA);
  });
}

/**
 * Throws if the records are damaged: files that they do not list get deleted, so damaged records must not be read. The
 * check takes 2 ms per MB.
 */
function requireWhole(database: DatabaseSync, path: string): void {
  const finding = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (finding !== 'ok') throw damaged(path, String(finding));
  const tables = tablesOf(database);
  if (TABLES.some((name) => !tables.has(name))) throw ofAnotherProgram(path);
}

function tablesOf(database: DatabaseSync): ReadonlySet<string> {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  return new Set(tables.map(({ name }) => String(name)));
}

function ofAnotherProgram(path: string): DataFolderError {
  const message = `${path} is not of a sandbox: another program wrote it. Use another folder.`;
  return new DataFolderError('unusable', message);
}

/** Schema version of the records; increased when the schema changes. */
export const SCHEMA_VERSION = 2;

// A video has its probe result (duration_s or failure_*) as soon as its bytes are stored; `status` determines whether
// the result is public. The indexes are in list order, so that SQLite finds a late page without reading the rows before
// it. A feed keeps the channel and item texts of its last publish; only another publish changes them.
const SCHEMA = `
CREATE TABLE api_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, key_hash TEXT NOT NULL UNIQUE, hint TEXT NOT NULL,
  is_read_only INTEGER NOT NULL DEFAULT 0, created_at_ms INTEGER NOT NULL, revoked_at_ms INTEGER,
  use_count INTEGER NOT NULL DEFAULT 0, last_used_at_ms INTEGER, last_used_from TEXT
) STRICT;
CREATE TABLE api_requests (
  key_id INTEGER NOT NULL, number INTEGER NOT NULL, at_ms INTEGER NOT NULL, PRIMARY KEY (key_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE channels (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, slug TEXT NOT NULL UNIQUE,
  description TEXT, default_player_settings TEXT NOT NULL, created_at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE feeds (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('mrss', 'podcast', 'ctv')),
  channel_id TEXT NOT NULL REFERENCES channels (id), last_published_at_ms INTEGER,
  changed_at_ms INTEGER, channel_name TEXT, channel_description TEXT, podcast_guid TEXT
) STRICT;
CREATE TABLE videos (
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, description TEXT,
  channel_id TEXT NOT NULL REFERENCES channels (id), tags TEXT NOT NULL, source_url TEXT,
  created_at_ms INTEGER NOT NULL, due_at_ms INTEGER,
  status TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'ready', 'failed')),
  uploaded_at_ms INTEGER, ended_at_ms INTEGER, failure_code TEXT, failure_message TEXT,
  file_size_bytes INTEGER, file_sha256 TEXT,
  container TEXT, duration_s REAL, media_type TEXT, file_extension TEXT, width INTEGER, height INTEGER,
  video_codec TEXT, audio_codec TEXT, bit_rate INTEGER, frame_rate REAL,
  CHECK ((failure_code IS NULL) = (failure_message IS NULL)), CHECK ((file_sha256 IS NULL) = (file_size_bytes IS NULL))
) STRICT;
CREATE INDEX videos_newest ON videos (created_at_ms, number);
CREATE INDEX videos_of_channel ON videos (channel_id, created_at_ms, number);
CREATE INDEX videos_in_status ON videos (status, created_at_ms, number);
CREATE INDEX videos_of_channel_in_status ON videos (channel_id, status, created_at_ms, number);
CREATE INDEX videos_due ON videos (due_at_ms) WHERE status = 'processing';
CREATE TABLE feed_items (
  feed_id TEXT NOT NULL REFERENCES feeds (id), position INTEGER NOT NULL, video_id TEXT NOT NULL,
  title TEXT NOT NULL, description TEXT, tags TEXT NOT NULL, PRIMARY KEY (feed_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX feed_items_of_video ON feed_items (video_id);
CREATE TABLE plays (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, video_id TEXT NOT NULL, viewer TEXT NOT NULL, source TEXT NOT NULL,
  started_at_ms INTEGER NOT NULL, watched_s REAL NOT NULL DEFAULT 0, is_complete INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX plays_of_video ON plays (video_id, started_at_ms, viewer, watched_s, is_complete);
CREATE INDEX plays_in_time ON plays (started_at_ms, video_id, viewer);
CREATE TABLE webhooks (
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, url TEXT NOT NULL, secret TEXT NOT NULL,
  events TEXT NOT NULL, created_at_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE webhook_deliveries (
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, webhook_id TEXT NOT NULL, event TEXT NOT NULL,
  body TEXT NOT NULL, created_at_ms INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, due_at_ms INTEGER, status INTEGER, error TEXT, delivered_at_ms INTEGER
) STRICT;
CREATE INDEX webhook_deliveries_of ON webhook_deliveries (webhook_id, number);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook_id, number) WHERE due_at_ms IS NOT NULL;
CREATE TABLE upload_addresses (
  video_id TEXT PRIMARY KEY, token_hash TEXT NOT NULL, expires_at_ms INTEGER NOT NULL, is_void INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
PRAGMA user_version = ${SCHEMA_VERSION};
`;

const TABLES = Array.from(SCHEMA.matchAll(/CREATE TABLE (\w+)/g), ([, name = '']) => name);
