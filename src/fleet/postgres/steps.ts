import { needsPerson, isInLine } from '../../ledger/words.ts';
import { serverTable } from './outcome.ts';
import { lockTable } from './statement.ts';

/** A numbered change to the tables. Released steps never change: append a new one. */
export interface Step {
  readonly text: string;
  /**
   * Lowest schema version that a release must support to work after this step. Steps only add tables, and columns that
   * accept null or have a default, so that the previous release keeps working while the hosts are upgraded one by one.
   * Anything no longer needed is dropped one release later, by a step with a higher number here.
   */
  readonly needsAtLeast: number;
}

/** Text compared by bytes, as in SQLite, independent of the server's locale. */
const text = 'text COLLATE "C"';

const key = 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY';

/** Creates a unique index for texts of any length. A primary key would refuse more than 2,704 bytes. */
const once = (table: string, column: string, ...others: string[]): string =>
  `CREATE UNIQUE INDEX ${table}_once ON ${table} (${[`hashtextextended(${column}, 0)`, ...others].join(', ')});`;

/** Times, sizes and counts are `bigint`, like SQLite's integers. */
export const steps: readonly Step[] = [
  {
    needsAtLeast: 1,
    text: `
  CREATE TABLE file (
    seq ${key},
    id ${text} NOT NULL UNIQUE,
    rev bigint NOT NULL,
    state ${text} NOT NULL CHECK (state IN ('queued', 'awaiting upload', 'processing', 'awaiting publish', 'retrying',
      'done', 'failed', 'held', 'skipped', 'vanished', 'superseded')),
    folder ${text} NOT NULL,
    path ${text} NOT NULL,
    dev ${text} NOT NULL,
    ino ${text} NOT NULL,
    birthtime_ns ${text} NOT NULL,
    size bigint NOT NULL,
    mtime_ns ${text} NOT NULL,
    ctime_ns ${text} NOT NULL,
    source_url ${text},
    plan ${text},
    on_duplicate ${text} NOT NULL,
    after_ready ${text} NOT NULL,
    discovered_at bigint NOT NULL,
    first_at bigint,
    urgency bigint NOT NULL DEFAULT 0,
    intent ${text},
    suspects ${text} NOT NULL,
    video_id ${text},
    upload_url ${text},
    upload_headers ${text},
    upload_session ${text},
    created_at bigint,
    upload_started_at bigint,
    sha256 ${text},
    uploaded_at bigint,
    processing_since bigint,
    address_dead_at bigint,
    dying bigint NOT NULL,
    replacements bigint NOT NULL,
    remote_status ${text},
    ready_at bigint,
    embed_url ${text},
    published ${text} NOT NULL,
    attempts bigint NOT NULL,
    not_before bigint,
    "end" ${text},
    why ${text},
    last_failure ${text},
    ended_at bigint,
    amendment ${text},
    disposal ${text},
    owner ${text},
    link_file ${text},
    -- PostgreSQL guards its own pages: always null.
    checksum bigint,
    -- The host that wrote the row last.
    host ${text},
    -- What is inside of other columns, for indexes: the writer fills it.
    folder_key ${text} NOT NULL,
    path_key ${text} NOT NULL,
    queue ${text},
    channel ${text},
    feeds ${text},
    title ${text},
    code ${text},
    kind ${text},
    cause ${text},
    extension ${text},
    twin ${text},
    likeness ${text},
    missing_feed ${text},
    over_kind ${text},
    due_at bigint,
    when_full bigint
  );
  CREATE INDEX file_state ON file (state, seq);
  CREATE INDEX file_path ON file (folder_key, path_key, seq);
  CREATE INDEX file_location ON file (ino, birthtime_ns);
  CREATE INDEX file_size ON file (size);
  CREATE INDEX file_discovered ON file (discovered_at);
  CREATE INDEX file_ended ON file (ended_at);
  CREATE INDEX file_day ON file (ended_at, state, size) WHERE ended_at IS NOT NULL;
  CREATE INDEX file_retrying ON file (not_before) WHERE not_before IS NOT NULL;
  CREATE INDEX file_disposal ON file (seq) WHERE disposal = 'pending';
  CREATE INDEX file_waiting ON file (seq) WHERE disposal = 'waiting';
  CREATE INDEX file_amendment ON file (seq) WHERE amendment IS NOT NULL;
  CREATE INDEX file_video ON file USING hash (video_id) WHERE video_id IS NOT NULL;
  CREATE INDEX file_empty_record ON file (seq) WHERE "end" IS NOT NULL AND video_id IS NOT NULL AND uploaded_at IS NULL;
  CREATE INDEX file_request ON file (seq) WHERE intent IS NOT NULL OR suspects <> '[]';
  CREATE INDEX file_queue ON file (state, queue, urgency, seq) WHERE ${isInLine};
  CREATE INDEX file_urgent ON file (urgency, seq) WHERE urgency <> 0;
  CREATE INDEX file_cause ON file (cause, folder_key, extension, seq) WHERE ${needsPerson('code')};
  CREATE INDEX file_twin ON file (twin) WHERE state = 'skipped';
  CREATE INDEX file_later ON file (due_at) WHERE disposal = 'later';
  CREATE INDEX file_crowding ON file (folder_key, when_full, ended_at) WHERE disposal = 'later';
  CREATE INDEX file_existing ON file (seq) WHERE "end" = 'held' AND code = 'existing';
  CREATE TABLE history (
    seq ${key},
    file_id ${text} NOT NULL,
    at bigint NOT NULL,
    state ${text} NOT NULL,
    note ${text},
    checksum bigint,
    failure ${text}
  );
  CREATE INDEX history_file ON history (file_id, seq);
  CREATE TABLE budget (id bigint PRIMARY KEY CHECK (id = 1), spent ${text} NOT NULL, rev bigint NOT NULL DEFAULT 0);
  CREATE TABLE create_request (token ${text} PRIMARY KEY, file_id ${text} NOT NULL, title ${text} NOT NULL, at bigint NOT NULL);
  CREATE TABLE deletion (video_id ${text} NOT NULL, at bigint NOT NULL);
  ${once('deletion', 'video_id')}
  CREATE TABLE identity (id bigint PRIMARY KEY CHECK (id = 1), ledger ${text} NOT NULL, is_copy bigint NOT NULL DEFAULT 0,
    counter bigint NOT NULL DEFAULT 0);
  INSERT INTO identity (id, ledger) VALUES (1, replace(gen_random_uuid()::text, '-', ''));
  ${serverTable}
  CREATE TABLE root (folder ${text} NOT NULL, record ${text} NOT NULL);
  ${once('root', 'folder')}
  CREATE TABLE first_start (folder ${text} NOT NULL, asked_ns ${text} NOT NULL, began_ns ${text}, is_over bigint NOT NULL,
    is_adopted bigint NOT NULL DEFAULT 0);
  ${once('first_start', 'folder')}
  CREATE TABLE listed_video (id ${text} NOT NULL, title ${text} NOT NULL, duration double precision, status ${text} NOT NULL);
  ${once('listed_video', 'id')}
  CREATE TABLE listing (id bigint PRIMARY KEY CHECK (id = 1), next_page bigint NOT NULL, total bigint, is_whole bigint NOT NULL);
  CREATE TABLE audit_video (id ${text} PRIMARY KEY, title ${text} NOT NULL, channel ${text}, duration double precision,
    status ${text} NOT NULL, is_known bigint NOT NULL);
  CREATE INDEX audit_video_title ON audit_video USING hash (title) WHERE is_known = 0;
  CREATE TABLE audit_finding (kind ${text} NOT NULL, file_id ${text} NOT NULL, note ${text}, PRIMARY KEY (kind, file_id));
  CREATE TABLE pause (folder ${text} NOT NULL, since bigint NOT NULL, until bigint, "by" ${text} NOT NULL);
  ${once('pause', 'folder')}
  CREATE TABLE feed_due (feed ${text} PRIMARY KEY, first_at bigint NOT NULL, last_at bigint NOT NULL, is_now bigint NOT NULL,
    revision bigint NOT NULL DEFAULT 0);
  CREATE TABLE outbox (seq ${key}, target ${text} NOT NULL, message ${text} NOT NULL, at bigint NOT NULL, tried_at bigint,
    refusals bigint NOT NULL);
  CREATE INDEX outbox_target ON outbox (target, seq);
  CREATE TABLE news_memory (name ${text} PRIMARY KEY, record ${text} NOT NULL);
  CREATE TABLE expected_file (expectation ${text} NOT NULL, file_id ${text} NOT NULL, at bigint NOT NULL);
  ${once('expected_file', 'expectation', 'file_id')}
  CREATE INDEX expected_file_expectation ON expected_file USING hash (expectation);
  -- The members of the fleet, by the clock of the database.
  CREATE TABLE host (
    name ${text} PRIMARY KEY,
    instance ${text} NOT NULL,
    version ${text} NOT NULL,
    schema integer NOT NULL,
    started_at bigint NOT NULL,
    heard_at bigint NOT NULL,
    stopped_at bigint,
    clock_ahead_ms bigint,
    draining_since bigint,
    draining_by ${text},
    doing ${text} NOT NULL
  );
  CREATE TABLE event (seq ${key}, host ${text} NOT NULL, at bigint NOT NULL, line ${text} NOT NULL);
  ${lockTable}
  `,
  },
];
