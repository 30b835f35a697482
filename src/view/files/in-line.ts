import type { LineRows } from '../../ledger/queues.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { stateOf } from '../../pipeline/file/facts.ts';
import { bigBytes, queuedOf } from '../../pipeline/file/queue.ts';
import type { Line } from '../../pipeline/file/queue.ts';
import { filesAhead, startsInMs } from '../../pipeline/estimate.ts';
import type { Conductor } from '../../pipeline/conductor.ts';
import type { Rows } from '../../pipeline/file/rows.ts';
import { paceOf } from '../outlook/pace.ts';
import type { PaceWorld } from '../outlook/pace.ts';

/** A file's place in line for an upload. */
export interface Standing {
  /** Files with the same folder, priority and size class that arrived earlier. */
  readonly before: number;
  /** Null if unknown. */
  readonly startsInMs: number | null;
}

/** The parts of the running daemon needed to estimate when files in line start. */
export interface LineWorld extends PaceWorld {
  readonly conductor: Pick<
    Conductor,
    'pace' | 'quotaRoom' | 'pause' | 'createsPauses' | 'createsWaitUntil' | 'noSlot' | 'uploads'
  >;
  readonly rows: Pick<Rows, 'held'>;
}

/** Keyed by file id. */
export type Standings = ReadonlyMap<string, Standing>;

/** Maximum number of files whose place in line one view looks up. */
const mostPlaces = 100;

/** Maximum number of files counted ahead of another. */
const mostBefore = 1_000;

export async function standingsOf(daemon: LineWorld, ledger: LineRows, files: readonly Facts[]): Promise<Standings> {
  const held = daemon.rows.held();
  const inLine = files.filter((facts) => isInLine(facts) && !held.includes(facts.id)).slice(0, mostPlaces);
  if (inLine.length === 0) return new Map();
  const ids = inLine.map(({ id }) => id);
  const [places, lines] = [await ledger.before(ids, mostBefore, held), await ledger.lines(held)];
  return new Map(
    inLine.map((facts): [string, Standing] => {
      const before = places.get(facts.id) ?? 0;
      return [facts.id, { before, startsInMs: whenOf(daemon, facts, before, lines) }];
    }),
  );
}

function isInLine(facts: Facts): boolean {
  return ['queued', 'awaiting upload'].includes(stateOf(facts));
}

/**
 * Estimates when the file's upload starts. Null: the wait has no known end or does not depend on the file's place;
 * `why` has the reason.
 */
function whenOf(daemon: LineWorld, facts: Facts, before: number, lines: readonly Line[]): number | null {
  const { conductor } = daemon;
  const state = stateOf(facts) === 'queued' ? 'queued' : 'awaiting upload';
  const noSlot = conductor.noSlot(facts);
  const isRefused = conductor
    .createsPauses()
    .some(({ channel }) => channel === undefined || channel === facts.plan?.channel);
  const mayNotBegin = state === 'queued' && (isRefused || conductor.createsWaitUntil() !== null);
  const waitsForMore = conductor.pause() !== null || mayNotBegin;
  if (waitsForMore || noSlot === 'folder' || noSlot === 'kept for small') return null;
  const uploads = conductor.uploads().map(({ sizeBytes, sentBytes }) => Math.max(0, sizeBytes - sentBytes));
  return startsInMs(filesAhead({ ...queuedOf(facts), state, before }, lines), uploads, paceOf(daemon));
}

/**
 * Explains why a file is waiting for an upload slot although budget and hosts allow an upload, and why the time is
 * unknown; null when there is nothing to add.
 */
export function whyInLine(daemon: LineWorld, facts: Facts, place: Standing | undefined): string | null {
  const why = daemon.conductor.noSlot(facts);
  const { folders, uploads } = daemon.config();
  if (why === 'folder') {
    const most = folders.find(({ path }) => path === facts.folder)?.uploads ?? 0;
    return `its folder already has ${most === 1 ? '1 upload' : `${most} uploads`}`;
  }
  if (why === 'kept for small' && uploads.concurrency > 1)
    return `waiting for an upload slot: of ${uploads.concurrency}, at least one is kept for files of up to ${bigBytes / 1024 ** 2} MiB`;
  const words = place === undefined ? [] : [placeWords(place), place.startsInMs === null ? speedWords(daemon) : null];
  return words.filter((each) => each !== null).join('; ') || null;
}

function placeWords({ before }: Standing): string | null {
  if (before === 0) return null;
  if (before === 1) return '1 file of its folder is ahead of it';
  return `${before >= mostBefore ? 'more than 1,000' : before} files of its folder are ahead of it`;
}

function speedWords({ conductor }: LineWorld): string | null {
  const { bytesPerSecond } = conductor.pace();
  if (bytesPerSecond === null) return 'the speed of uploads is not measured yet';
  return bytesPerSecond < 1 ? 'nothing is being sent at the moment' : null;
}
