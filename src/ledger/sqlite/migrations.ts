import { DatabaseSync } from 'node:sqlite';
import { LedgerError } from '../ledger-error.ts';
import { needsPerson, isInLine } from '../words.ts';
import { inside } from './words.ts';

/** Value of `PRAGMA application_id`: 'drop'. dropcast never touches another program's database. */
const applicationId = 0x64726f70;

/**
 * Each step upgrades the schema from its index to the next `user_version`. Released steps never change: append a new
 * one. A column that it adds is also named in `laterColumns` of row.ts.
 */
const migrations: readonly string[] = [
  `
  CREATE TABLE file (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    rev INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'awaiting upload', 'processing', 'awaiting publish', 'retrying',
      'done', 'failed', 'held', 'skipped', 'vanished', 'superseded')),
    folder TEXT NOT NULL,
    path TEXT NOT NULL,
    dev TEXT NOT NULL,
    ino TEXT NOT NULL,
    birthtime_ns TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns TEXT NOT NULL,
    ctime_ns TEXT NOT NULL,
    source_url TEXT,
    plan TEXT,
    on_duplicate TEXT NOT NULL,
    after_ready TEXT NOT NULL,
    discovered_at INTEGER NOT NULL,
    first_at INTEGER,
    urgency INTEGER NOT NULL DEFAULT 0,
    intent TEXT,
    suspects TEXT NOT NULL,
    video_id TEXT,
    upload_url TEXT,
    upload_headers TEXT,
    upload_session TEXT,
    created_at INTEGER,
    upload_started_at INTEGER,
    sha256 TEXT,
    uploaded_at INTEGER,
    processing_since INTEGER,
    address_dead_at INTEGER,
    dying INTEGER NOT NULL,
    replacements INTEGER NOT NULL,
    remote_status TEXT,
    ready_at INTEGER,
    embed_url TEXT,
    published TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    not_before INTEGER,
    "end" TEXT,
    why TEXT,
    last_failure TEXT,
    ended_at INTEGER,
    amendment TEXT,
    disposal TEXT,
    owner TEXT,
    link_file TEXT,
    checksum INTEGER
  ) STRICT;
  CREATE INDEX file_state ON file (state, seq);
  CREATE INDEX file_path ON file (folder, path, seq);
  CREATE INDEX file_location ON file (ino, birthtime_ns);
  CREATE INDEX file_size ON file (size);
  CREATE INDEX file_discovered ON file (discovered_at);
  CREATE INDEX file_ended ON file (ended_at);
  -- What ended, by the half hour.
  CREATE INDEX file_day ON file (ended_at, state, size) WHERE ended_at IS NOT NULL;
  CREATE INDEX file_retrying ON file (not_before) WHERE not_before IS NOT NULL;
  CREATE INDEX file_disposal ON file (seq) WHERE disposal = 'pending';
  CREATE INDEX file_waiting ON file (seq) WHERE disposal = 'waiting';
  -- Local files that are deleted later: when, and by how full a disk.
  CREATE INDEX file_later ON file (${inside.dueAt}) WHERE disposal = 'later';
  CREATE INDEX file_crowding ON file (folder, ${inside.whenFull}, ended_at) WHERE disposal = 'later';
  CREATE INDEX file_amendment ON file (seq) WHERE amendment IS NOT NULL;
  CREATE INDEX file_video ON file (video_id) WHERE video_id IS NOT NULL;
  CREATE INDEX file_empty_record ON file (seq) WHERE "end" IS NOT NULL AND video_id IS NOT NULL AND uploaded_at IS NULL;
  CREATE INDEX file_queue ON file (state, ${inside.queue}, urgency, seq) WHERE ${isInLine};
  CREATE INDEX file_urgent ON file (urgency, seq) WHERE urgency <> 0;
  -- One flipped bit in a failure must not keep the ledger from being opened: broken JSON has no twin and no code.
  CREATE INDEX file_twin ON file (${inside.twin}) WHERE state = 'skipped';
  CREATE INDEX file_existing ON file (seq) WHERE "end" = 'held' AND ${inside.code} = 'existing';
  CREATE INDEX file_cause ON file (${inside.cause}, folder, ${inside.extension}, seq) WHERE ${needsPerson(inside.code)};
  -- All that files are selected by, so that no question reads the rows themselves: 16 MB with 100,000 files.
  CREATE INDEX file_listing ON file (state, ${inside.stage}, folder, ${inside.channel}, ${inside.feeds}, ${inside.cause},
    discovered_at, ended_at, path, ${inside.title}, video_id);
  CREATE TABLE history (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    file_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    state TEXT NOT NULL,
    note TEXT,
    checksum INTEGER,
    -- Class, code and HTTP status of a failure, for the attempts of a file.
    failure TEXT
  ) STRICT;
  CREATE INDEX history_file ON history (file_id, seq);
  CREATE TABLE budget (id INTEGER PRIMARY KEY CHECK (id = 1), spent TEXT NOT NULL) STRICT;
  CREATE TABLE create_request (token TEXT PRIMARY KEY, file_id TEXT NOT NULL, title TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE TABLE deletion (video_id TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT;
  -- The counter says how far the ledger is, for the marks in the watched folders.
  CREATE TABLE identity (id INTEGER PRIMARY KEY CHECK (id = 1), ledger TEXT NOT NULL, is_copy INTEGER NOT NULL DEFAULT 0,
    counter INTEGER NOT NULL DEFAULT 0) STRICT;
  INSERT INTO identity (id, ledger) VALUES (1, lower(hex(randomblob(16))));
  CREATE TABLE root (folder TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT;
  CREATE TABLE first_start (folder TEXT PRIMARY KEY, asked_ns TEXT NOT NULL, began_ns TEXT, is_over INTEGER NOT NULL,
    is_adopted INTEGER NOT NULL DEFAULT 0) STRICT;
  -- The service's list of videos, as far as it was read, for files that were there before.
  CREATE TABLE listed_video (id TEXT PRIMARY KEY, title TEXT NOT NULL, duration REAL, status TEXT NOT NULL) STRICT;
  CREATE TABLE listing (id INTEGER PRIMARY KEY CHECK (id = 1), next_page INTEGER NOT NULL, total INTEGER, is_whole INTEGER NOT NULL) STRICT;
  -- The last audit: the service's list of videos, and what was found about files.
  CREATE TABLE audit_video (id TEXT PRIMARY KEY, title TEXT NOT NULL, channel TEXT, duration REAL, status TEXT NOT NULL,
    is_known INTEGER NOT NULL) STRICT;
  CREATE INDEX audit_video_title ON audit_video (title) WHERE is_known = 0;
  CREATE TABLE audit_finding (kind TEXT NOT NULL, file_id TEXT NOT NULL, note TEXT, PRIMARY KEY (kind, file_id)) STRICT;
  -- What operators paused, and the feeds that are to be published again.
  CREATE TABLE pause (folder TEXT PRIMARY KEY, since INTEGER NOT NULL, until INTEGER, "by" TEXT NOT NULL) STRICT;
  CREATE TABLE feed_due (feed TEXT PRIMARY KEY, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, is_now INTEGER NOT NULL) STRICT;
  -- Messages to people that are under way, what people were told, and the files that are expected by a time of day.
  CREATE TABLE outbox (seq INTEGER PRIMARY KEY AUTOINCREMENT, target TEXT NOT NULL, message TEXT NOT NULL, at INTEGER NOT NULL,
    tried_at INTEGER, refusals INTEGER NOT NULL) STRICT;
  CREATE INDEX outbox_target ON outbox (target, seq);
  CREATE TABLE news_memory (name TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT;
  CREATE TABLE expected_file (expectation TEXT NOT NULL, file_id TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (expectation, file_id)) STRICT;
  -- Events that are about no file. They survive a restart.
  CREATE TABLE event (seq INTEGER PRIMARY KEY AUTOINCREMENT, host TEXT NOT NULL, at INTEGER NOT NULL, line TEXT NOT NULL) STRICT;
  `,
];

/** The newest schema that this dropcast knows. The package refuses to replace a version that knows a newer one. */
export const knownSchema = migrations.length;

/**
 * Checks before any change that the database is empty, or a ledger whose schema this dropcast knows.
 *
 * @throws {LedgerError} if it is neither
 */
export function identify(database: DatabaseSync, path: string): void {
  const version = readPragma(database, 'user_version');
  const tables = Number(Object.values(database.prepare('SELECT count(*) FROM sqlite_schema').get() ?? {})[0]);
  const isEmpty = version === 0 && tables === 0;
  if (!isEmpty && readPragma(database, 'application_id') !== applicationId) {
    throw new LedgerError(
      `${path} is not a dropcast ledger but a database of another program: move it elsewhere, or set another state_dir`,
    );
  }
  if (version > knownSchema) {
    throw new LedgerError(
      `${path} has schema ${version}, but this dropcast knows only ${knownSchema}: reinstall the newer version`,
    );
  }
}

/**
 * Whether tables and indexes match those that the steps up to its version create. One flipped bit can rename a column.
 */
export function isSchemaIntact(database: DatabaseSync): boolean {
  return schemaOf(database) === schemaAfter(readPragma(database, 'user_version'));
}

const known = new Map<number, string>();

function schemaAfter(steps: number): string {
  const schema = known.get(steps) ?? madeBy(migrations.slice(0, steps));
  known.set(steps, schema);
  return schema;
}

function madeBy(steps: readonly string[]): string {
  using database = new DatabaseSync(':memory:');
  for (const step of steps) database.exec(step);
  return schemaOf(database);
}

function schemaOf(database: DatabaseSync): string {
  return JSON.stringify(database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name').all());
}

/**
 * Upgrades a new or older ledger to the current schema, each step in its own transaction. The new version goes to the
 * file at once, where the package looks for it: packaging/debian/preinst.
 */
export function migrate(database: DatabaseSync): void {
  const version = readPragma(database, 'user_version');
  for (let step = version; step < knownSchema; step += 1) {
    database.exec(
      `BEGIN IMMEDIATE; ${migrations[step] ?? ''}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${step + 1}; COMMIT`,
    );
  }
  if (version < knownSchema) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

function readPragma(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
}
