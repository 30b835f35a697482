import type { ExportConfig } from '../config/config.ts';
import type { FeedLinks } from '../host/feed-links.ts';
import type { HistoryRows } from '../ledger/history.ts';
import type { Logger } from '../log/logger.ts';
import type { NoteStore } from '../pipeline/file/ports.ts';
import type { RowStore } from '../pipeline/file/row-groups.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { errnoOf } from '../errno.ts';
import { unlessHung } from '../unless-hung.ts';
import type { EventStream } from './events.ts';
import { appendExport, prepareExport } from '../ledger/exports/export-file.ts';
import type { KnownEnd } from '../ledger/exports/export-file.ts';
import { exportLine, headerOf } from '../ledger/exports/export-lines.ts';

/** How far a file has got. Saved after its lines are on disk. */
interface Progress extends KnownEnd {
  /** Number of the last history line whose videos are in the file. */
  readonly read: number;
}

interface ExportWorld {
  readonly ledger: HistoryRows & NoteStore & RowStore<'any'>;
  readonly events: Pick<EventStream, 'listen'>;
  readonly logger: Logger;
  exports(): readonly ExportConfig[];
  readonly feedLinks: Pick<FeedLinks, 'find'>;
  readonly linkFiles: { run(isStopped: () => boolean): Promise<void> };
  /** Each member of a fleet has files of its own; null: no fleet, so the ledger keeps its files if the host is renamed. */
  readonly hostName: string | null;
}

const retryEveryMs = 60_000;

const mostLines = 500;

/** Each video of a file begins here. A row that was rebuilt from a receipt keeps its video, and is in a later state. */
const noVideo = ['queued'];

/** Writes a line for each finished video to the files of `exports`, and the link files. */
export function startExports(world: ExportWorld) {
  const refused = new Map<string, string>();
  let last: Promise<void> = Promise.resolve();
  let isWaiting = false;
  let isStopped = false;

  const writeAll = async (): Promise<void> => {
    isWaiting = false;
    await world.linkFiles.run(() => isStopped).catch((err: unknown) => world.logger.debug('Link files wait', { err }));
    for (const each of world.exports()) {
      try {
        await writeOne(each, world, () => isStopped);
        if (refused.delete(each.path)) world.logger.info('An export is written again', { path: each.path });
      } catch (err) {
        const cause = errnoOf(err) ?? String(err);
        if (refused.get(each.path) !== cause)
          world.logger.warn('Cannot write an export; dropcast tries again every minute', { path: each.path, err });
        refused.set(each.path, cause);
      }
    }
  };
  const run = (): Promise<void> => {
    // A run that has not started yet writes this change too.
    if (!isWaiting) last = last.then(writeAll);
    isWaiting = true;
    return last;
  };
  const unlisten = world.events.listen((event) => {
    if (event.type === 'file' && event.facts.end === 'done') void run();
  });
  const timer = setInterval(() => void run(), retryEveryMs);
  return {
    /** Writes what is missing now. Never rejects: a file that cannot be written is tried again a minute later. */
    run,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      isStopped = true;
      clearInterval(timer);
      unlisten();
      // A call that hangs is like a crash: the next start continues from what the ledger knows.
      await unlessHung(last);
    },
  };
}

/** Brings one file up to date. @throws the file system's error, or any error from the ledger */
async function writeOne({ path, format }: ExportConfig, world: ExportWorld, isStopped: () => boolean): Promise<void> {
  const { ledger } = world;
  const note = `export:${world.hostName ?? ''}:${path}`;
  const header = headerOf(format);
  const known = (await ledger.note(note)) as Progress | null;
  const until = await ledger.lastPassage();
  // A ledger that was restored from a copy is behind.
  const from = Math.min(known?.read ?? 0, until);
  let progress: Progress = { ...(known ?? (await prepareExport(path, null, header))), read: from };
  if (known === null) await ledger.saveNote(note, progress);
  while (progress.read < until && !isStopped()) {
    const { videos, read } = await finishedAfter(ledger, progress.read, until);
    if (videos.length > 0) {
      // Known before lines follow, so that a crash in between leaves nothing that would be written twice.
      progress = { ...(await prepareExport(path, progress, header)), read: progress.read };
      await ledger.saveNote(note, progress);
      const lines = videos.map((facts) => exportLine(facts, world.feedLinks.find, format)).join('');
      progress = { ...(await appendExport(path, lines)), read };
    }
    progress = { ...progress, read };
    await ledger.saveNote(note, progress);
  }
}

/**
 * Finds the files that finished with a new video after a history line. Later `done` lines of the same video concern its
 * local file or its feeds.
 */
async function finishedAfter(
  ledger: ExportWorld['ledger'],
  read: number,
  until: number,
): Promise<{ readonly videos: readonly Facts[]; readonly read: number }> {
  const passages = await ledger.passages(read, ['done'], mostLines, { since: 0, until });
  const next = passages.length < mostLines ? until : (passages.at(-1)?.seq ?? until);
  const ids = [...new Set(passages.map(({ id }) => id))];
  if (ids.length === 0) return { videos: [], read: next };
  const rows = new Map((await ledger.rows({ group: 'any', where: { ids } })).map((facts) => [facts.id, facts]));
  const begun = await ledger.lastStates(ids, noVideo, Number.MAX_SAFE_INTEGER);
  const before = await ledger.lastStates(ids, ['done'], read);
  const written = new Set<string>();
  const videos = passages.flatMap(({ id, seq }): readonly Facts[] => {
    const facts = rows.get(id);
    const since = begun.get(id)?.seq ?? 0;
    const isOfThisVideo = facts?.end === 'done' && seq > since;
    const isKnown = written.has(id) || (before.get(id)?.seq ?? -1) > since;
    if (facts === undefined || !isOfThisVideo || isKnown) return [];
    written.add(id);
    return [facts];
  });
  return { videos, read: next };
}
