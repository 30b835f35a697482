import { sql } from 'kysely';
import { auditNote } from '../pipeline/file/audit.ts';
import type {
  AuditFinding,
  AuditKind,
  AuditReader,
  AuditRun,
  AuditStore,
  ListedVideo,
} from '../pipeline/file/audit.ts';
import type { Connection } from './connection.ts';
import { remember } from './news-rows.ts';
import { ask, readRecord } from './work.ts';
import type { Work } from './work.ts';
import type { SqlWords } from './words.ts';

/** Number of videos and channels that a summary names. */
const mostNamed = 100;
/** Number of videos with the same title that are compared with a file. */
const mostAlike = 10;
/** Number of files of the same size whose hashes are compared. */
const mostOfSize = 1_000;
/** Titles are compared up to this length, which bounds the size of the list in the ledger. */
const mostTitle = 500;

// The condition is literal, because SQLite does not match a bound value against the condition of the partial index.
const isUnknown = sql<boolean>`is_known = 0`;

const listed = ['id', 'title', 'channel', 'duration', 'status'] as const;

/** Stores the list of videos and the findings of an audit. */
export function createAuditRows({ db, words, write }: Connection): AuditStore & AuditReader {
  return {
    beginAudit: (run) =>
      write(function* (): Work<void> {
        yield* ask('DELETE FROM audit_video');
        yield* ask('DELETE FROM audit_finding');
        yield* remember(auditNote, run);
      }),
    addAudited: (videos, next) =>
      write(function* (): Work<void> {
        let fresh = 0;
        for (const video of videos) fresh += yield* addVideo(video);
        yield* advance(words, next(fresh));
      }),
    addFindings: (findings, run) =>
      write(function* (): Work<void> {
        for (const finding of findings) yield* addFinding(finding);
        yield* advance(words, run);
      }),
    listedNear: async ({ videoId, sha256, version }) => {
      const videos = db.selectFrom('audit_video').select(listed);
      const own = await videos.where('id', '=', videoId).executeTakeFirst();
      const alike = videos.where('title', '=', own?.title ?? '').where(isUnknown);
      const sameSize = db.selectFrom('file').selectAll().where('size', '=', version.size).limit(mostOfSize);
      const same = db.selectFrom(sameSize.as('other')).where('sha256', '=', sha256).where('video_id', '!=', videoId);
      const twins = same.select(['path', 'video_id as videoId']).limit(mostAlike).$narrowType<{ videoId: string }>();
      return {
        own: own ?? null,
        alike: own === undefined ? [] : await alike.limit(mostAlike).execute(),
        twins: await twins.execute(),
      };
    },
    unknownVideos: async () => {
      // A record without bytes may be one that dropcast is just creating.
      const unknown = db.selectFrom('audit_video').where(isUnknown).where('status', '!=', 'pending');
      const videos = db.fn.countAll<number>().as('videos');
      const inChannels = unknown.select(['channel', videos]).groupBy('channel');
      const channels = await inChannels.orderBy(sql`2`, 'desc').execute();
      const first = await unknown.select(listed).orderBy('id').limit(mostNamed).execute();
      const count = channels.reduce((sum, each) => sum + each.videos, 0);
      return { count, channels: channels.slice(0, mostNamed), first };
    },
    countFindings: async () => {
      const files = db.fn.countAll<number>().as('files');
      const rows = await db.selectFrom('audit_finding').select(['kind', files]).groupBy('kind').execute();
      return Object.fromEntries(rows.map((row) => [row.kind, row.files]));
    },
    findings: async (kind, limit, after) => {
      const rows = db.selectFrom('audit_finding').where('kind', '=', kind).where('file_id', '>', after);
      const found = rows.select(['kind', 'file_id as fileId', 'note']).$narrowType<{ kind: AuditKind }>();
      return found.orderBy('file_id').limit(limit).execute();
    },
  };
}

/** Saves the progress, unless the audit was stopped or replaced in the meantime. */
function* advance({ forWrite }: SqlWords, run: AuditRun): Work<void> {
  const [row] = yield* ask(`SELECT record FROM news_memory WHERE name = ?${forWrite}`, [auditNote]);
  const now = row === undefined ? null : (readRecord(String(row['record'])) as AuditRun | null);
  if (now?.startedAt === run.startedAt && now.endedAt === null) yield* remember(auditNote, run);
}

/** @returns 1 if the video was not listed before, otherwise 0 */
function* addVideo({ id, title, channel, duration, status }: ListedVideo): Work<number> {
  const [known] = yield* ask('SELECT 1 AS n FROM file WHERE video_id = ? LIMIT 1', [id]);
  const added = yield* ask(
    `INSERT INTO audit_video (id, title, channel, duration, status, is_known) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO NOTHING RETURNING is_known`,
    [id, title.slice(0, mostTitle).toWellFormed(), channel, duration, status, known === undefined ? 0 : 1],
  );
  return added.length;
}

function addFinding({ kind, fileId, note }: AuditFinding): Work<unknown> {
  return ask(
    `INSERT INTO audit_finding (kind, file_id, note) VALUES (?, ?, ?)
      ON CONFLICT (kind, file_id) DO UPDATE SET note = excluded.note`,
    [kind, fileId, note],
  );
}
