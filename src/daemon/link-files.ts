import type { Config } from '../config/config.ts';
import { requireWatched } from '../disk/held-directory.ts';
import { errnoSentence } from '../errno.ts';
import { writeLinkFile } from '../disk/link-file.ts';
import type { FeedLinks } from '../host/feed-links.ts';
import { linkRecord } from '../ledger/exports/export-lines.ts';
import type { HistoryRows } from '../ledger/history.ts';
import type { Logger } from '../log/logger.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { NoteStore } from '../pipeline/file/ports.ts';
import type { RowStore } from '../pipeline/file/row-groups.ts';
import type { Row, Rows } from '../pipeline/file/rows.ts';
import { linkFileOf } from '../routing/link-file.ts';
import { linkFileWords } from '../view/files/file-view.ts';

interface LinkFilesWorld {
  readonly ledger: HistoryRows & NoteStore & RowStore<'any'>;
  readonly rows: Pick<Rows, 'claim'>;
  readonly feedLinks: Pick<FeedLinks, 'find'>;
  readonly logger: Logger;
  folders(): Config['folders'];
  /** Returns why a folder must not be touched, or null. */
  whyOffLimits(folder: string): string | null;
  /** See `ExportWorld`. */
  readonly hostName: string | null;
}

/** How far the history was read, and the files that are tried again. */
interface Progress {
  readonly read: number;
  readonly waiting: readonly string[];
}

const mostLines = 500;
/** Maximum number of files that are tried again. The oldest are given up first. */
const mostWaiting = 1_000;

/**
 * Creates the writer of link files next to finished videos, in the folders with `beside: true`. Each video that finishes
 * after that gets one.
 */
export async function createLinkFiles(world: LinkFilesWorld) {
  const { ledger } = world;
  const note = `link files:${world.hostName ?? ''}`;
  const warned: Warned = new Map();
  const isUsed = (): boolean => world.folders().some(({ beside }) => beside);
  const begin = async (): Promise<Progress> => {
    const known = (await ledger.note(note)) as Progress | null;
    const last = await ledger.lastPassage();
    // A ledger that was restored from a copy is behind.
    const progress = { waiting: [], ...known, read: Math.min(known?.read ?? last, last) };
    if (known === null) await ledger.saveNote(note, progress);
    return progress;
  };
  /** Writes what is missing. @param isStopped ends the work between two files; the next run continues */
  const run = async (isStopped: () => boolean): Promise<void> => {
    if (!isUsed()) return;
    let { read, waiting } = await begin();
    const until = await ledger.lastPassage();
    while (read < until || waiting.length > 0) {
      const passages = await ledger.passages(read, ['done'], mostLines, { since: 0, until });
      const ids = [...new Set([...waiting, ...passages.map(({ id }) => id)])];
      const rows = ids.length === 0 ? [] : await ledger.rows({ group: 'any', where: { ids } });
      const missing: Facts[] = [];
      for (const facts of rows.filter((each) => isMissing(each, world))) {
        if (isStopped()) return;
        if ((await world.rows.claim(facts.id, (row) => writeOne(row, world, warned))) !== true) missing.push(facts);
      }
      for (const folder of warned.keys()) if (!missing.some((facts) => facts.folder === folder)) warned.delete(folder);
      read = passages.length < mostLines ? until : (passages.at(-1)?.seq ?? until);
      waiting = missing.slice(-mostWaiting).map(({ id }) => id);
      await ledger.saveNote(note, { read, waiting });
      if (read >= until) return;
    }
  };
  // The first run begins here, so that no video is missed that finishes before it.
  if (isUsed()) await begin();
  return { run };
}

/** Reasons that were logged, by folder. A reason is logged again once the folder lacks no link file. */
type Warned = Map<string, Set<string>>;

/** Whether a finished video has no link file yet. Once a pending local file is where it stays, a later line follows. */
function isMissing({ folder, end, videoId, disposal, linkFile }: Facts, { folders }: LinkFilesWorld): boolean {
  const isWanted = folders().some(({ path, beside }) => path === folder && beside);
  const isUnderWay = disposal === 'pending' || disposal === 'waiting';
  const isThere = linkFile !== null && 'path' in linkFile;
  return isWanted && end === 'done' && videoId !== null && !isUnderWay && !isThere;
}

/** @returns false if the file must be tried again */
async function writeOne(row: Row, world: LinkFilesWorld, warned: Warned): Promise<boolean> {
  const { facts } = row;
  if (!isMissing(facts, world)) return true;
  const { folder, linkFile } = facts;
  const result = await tried(facts, world);
  const reasons = warned.get(folder) ?? new Set();
  if ('why' in result && !reasons.has(result.why)) {
    warned.set(folder, reasons.add(result.why));
    world.logger.warn('Cannot write link files; dropcast tries again every minute', { folder, ...result });
  }
  const why = linkFileWords(result);
  // The same reason again is no news.
  if (why === null || why !== linkFileWords(linkFile))
    await row.write({ linkFile: result }, why ?? `link file written: ${linkFileOf(facts.path)}`);
  return why === null;
}

async function tried(
  facts: Facts,
  { folders, feedLinks, whyOffLimits }: LinkFilesWorld,
): Promise<NonNullable<Facts['linkFile']>> {
  const why = whyOffLimits(facts.folder);
  if (why !== null) return { why };
  try {
    const watched = requireWatched(facts, (folder) => folders().some(({ path }) => path === folder));
    return { path: await writeLinkFile(watched, linkRecord(facts, feedLinks.find)) };
  } catch (error) {
    const isOfSystem = error instanceof Error && 'syscall' in error;
    return { why: isOfSystem ? errnoSentence(error) : error instanceof Error ? error.message : String(error) };
  }
}
