import type { LineRows } from '../../ledger/queues.ts';
import { filesAhead, startsInMs } from '../../pipeline/estimate.ts';
import { feedsToPublish, stateOf, type Facts, type FileState } from '../../pipeline/file/facts.ts';
import { bigBytes, queuedOf, type Line } from '../../pipeline/file/queue.ts';
import { deadlineOf, urgencyOf } from '../../pipeline/file/urgency.ts';
import type { FeedWait } from '../../pipeline/rounds/publish.ts';
import type { PollTrouble } from '../../pipeline/rounds/sweep.ts';
import { noneTakesWords, waitsElsewhere } from '../hosts/host-words.ts';
import { paceOf } from '../outlook.ts';
import { workStates } from '../stages.ts';
import type { Moment, ViewedDaemon } from '../viewed-daemon.ts';
import { fileWaitWords, filesFor, type Wait } from '../waits.ts';
import { clockTime, counted } from '../words/text.ts';

/** A file's place in line for an upload. */
export interface QueuePlace {
  /** Files with the same folder, priority and size class that arrived earlier; at most 1,000 are counted. */
  readonly before: number;
  /** When the upload starts, epoch milliseconds; null: unknown, and `why` has the reason. */
  readonly starts_at: number | null;
}

/** Maximum number of files whose place in line one view looks up. */
const mostPlaces = 100;

/** Maximum number of files counted ahead of another. */
const mostBefore = 1_000;

/** Returns the places of the files that are in line, by id. */
export async function placesInLine(
  { daemon, held }: Moment,
  ledger: LineRows,
  files: readonly Facts[],
): Promise<ReadonlyMap<string, QueuePlace>> {
  const inLine = files
    // Urgent files wait in no line.
    .filter((facts) => isBeforeUpload(stateOf(facts)) && urgencyOf(facts) === null && !held.includes(facts.id))
    .slice(0, mostPlaces);
  if (inLine.length === 0) return new Map();
  const ids = inLine.map(({ id }) => id);
  const [places, lines] = [await ledger.before(ids, mostBefore, held), await ledger.lines(held)];
  return new Map(
    inLine.map((facts): [string, QueuePlace] => {
      const before = places.get(facts.id) ?? 0;
      const inMs = untilStart(daemon, facts, { before, lines });
      return [facts.id, { before, starts_at: inMs === null ? null : Math.round(Date.now() + inMs) }];
    }),
  );
}

/** Estimates when the upload starts. Null: the wait has no known end or does not depend on the file's place. */
function untilStart(
  daemon: ViewedDaemon,
  facts: Facts,
  { before, lines }: { readonly before: number; readonly lines: readonly Line[] },
): number | null {
  const { conductor } = daemon;
  const state = stateOf(facts) === 'queued' ? 'queued' : 'awaiting upload';
  const noSlot = conductor.noSlot(facts);
  const isRefused = conductor
    .createsPauses()
    .some(({ channel }) => channel === undefined || channel === facts.plan?.channel);
  const mayNotBegin = state === 'queued' && (isRefused || conductor.createsWaitUntil() !== null);
  if (conductor.pause() !== null || mayNotBegin || noSlot === 'folder' || noSlot === 'kept for small') return null;
  const uploads = conductor.uploads().map(({ sizeBytes, sentBytes }) => Math.max(0, sizeBytes - sentBytes));
  return startsInMs(filesAhead({ ...queuedOf(facts), state, before, isUrgent: false }, lines), uploads, paceOf(daemon));
}

/** Describes what a file is waiting for when nothing went wrong; null: no wait is known. */
export function waitsFor({ daemon, waits }: Moment, facts: Facts, place: QueuePlace | undefined): string | null {
  const { conductor, gate } = daemon;
  const state = stateOf(facts);
  if (!workStates.includes(state)) return null;
  const now = Date.now();
  const elsewhere = isBeforeUpload(state) ? waitsElsewhere(daemon.fleet, facts.folder, foldersOf(daemon)) : null;
  const wait = waits.find((each) => holdsUp(each, facts) && (elsewhere === null || each.cause !== 'upload window'));
  if (wait !== undefined) return fileWaitWords(wait, now);
  if (elsewhere !== null) return elsewhere.why;
  const turn = turnWords(facts, now);
  if (state === 'awaiting upload') return whyInLine(daemon, facts, place) ?? `waiting for an upload slot${turn}`;
  if (state === 'retrying') return null;
  const isAsking = gate.snapshot().waiting > 0;
  if (state === 'queued' && !isAsking) return whyInLine(daemon, facts, place) ?? `waiting for its turn${turn}`;
  const limit = waits.find(({ cause }) => cause === 'rate limit');
  if (limit !== undefined) return fileWaitWords(limit, now);
  if (state === 'queued') return 'waiting for the hourly request budget';
  if (state === 'awaiting publish') return publishWords(facts, conductor.feedsWaiting(), now);
  const trouble = conductor.pollTrouble();
  return trouble && pollWords(trouble, now);
}

/** Says why a file precedes others. */
function turnWords(facts: Facts, now: number): string {
  if (facts.firstAt !== null) return ', before all others';
  const deadline = deadlineOf(facts);
  return deadline === null ? '' : `, to be ready by ${clockTime(deadline, now)}`;
}

/** Whether a wait keeps a file from its next step. A rate limit only delays the file. */
function holdsUp({ cause, holds, what }: Wait, facts: Facts): boolean {
  const state = stateOf(facts);
  switch (cause) {
    case 'paused':
      return isBeforeUpload(state) && (holds === 'everything' || what === facts.folder);
    case 'upload host':
    case 'upload window':
      return isBeforeUpload(state);
    case 'unanswered creates':
      return state === 'queued';
    case 'channel':
      return state === 'queued' && what === filesFor(facts.plan?.channel ?? '');
    default:
      return holds === 'everything' || (holds === 'new files' && state === 'queued');
  }
}

/** Returns why no host can continue the file: no working host can read its bytes, or none is working. Null: one can. */
export function stuckOf(daemon: FoldersOf, facts: Facts): string | null {
  const { fleet } = daemon;
  if (!workStates.includes(stateOf(facts))) return null;
  if (facts.uploadedAt !== null) return noneTakesWords(fleet);
  const wait = waitsElsewhere(fleet, facts.folder, foldersOf(daemon));
  return wait?.isStuck === true ? wait.why : noneTakesWords(fleet);
}

/** A host without a running daemon watches no folder. */
type FoldersOf = Pick<ViewedDaemon, 'fleet'> & Partial<Pick<ViewedDaemon, 'config'>>;

function foldersOf(daemon: FoldersOf): readonly string[] {
  return daemon.fleet === null ? [] : (daemon.config?.().folders ?? []).map(({ path }) => path);
}

/** Records count as part of the queue because they are created only shortly before the upload. */
function isBeforeUpload(state: FileState): boolean {
  return state === 'queued' || state === 'awaiting upload';
}

/**
 * Explains why a file is waiting for an upload slot although budget and hosts allow an upload, and why the time is
 * unknown; null when there is nothing to add.
 */
function whyInLine(daemon: ViewedDaemon, facts: Facts, place: QueuePlace | undefined): string | null {
  const why = daemon.conductor.noSlot(facts);
  const { folders } = daemon.config();
  const { slots } = daemon.conductor.pace();
  if (why === 'folder') {
    const most = folders.find(({ path }) => path === facts.folder)?.uploads ?? 0;
    return `its folder already has ${counted(most, 'upload')}`;
  }
  if (why === 'kept for small' && slots > 1)
    return `waiting for an upload slot: of ${slots}, at least one is kept for files of up to ${bigBytes / 1024 ** 2} MiB`;
  const words = place === undefined ? [] : [placeWords(place), place.starts_at === null ? speedWords(daemon) : null];
  return words.filter((each) => each !== null).join('; ') || null;
}

function placeWords({ before }: QueuePlace): string | null {
  if (before === 0) return null;
  if (before === 1) return '1 file of its folder is ahead of it';
  return `${before >= mostBefore ? 'more than 1,000' : before} files of its folder are ahead of it`;
}

function speedWords({ conductor }: ViewedDaemon): string | null {
  const { bytesPerSecond } = conductor.pace();
  if (bytesPerSecond === null) return 'the speed of uploads is not measured yet';
  return bytesPerSecond < 1 ? 'nothing is being sent at the moment' : null;
}

/** Why news of a video's status is slow to arrive. */
function pollWords(trouble: PollTrouble, nowMs: number): string {
  if (trouble.kind === 'no list')
    return `the service does not list videos (${trouble.failure.message}): dropcast polls each one by its id, which is slower`;
  const { nextAt, left, limit } = trouble;
  const waits = `the next check waits until ${clockTime(nextAt, nowMs)}`;
  if (left === 0) return `${waits}: all ${limit} requests of this hour are used`;
  const kept =
    left === 1 ? 'the one request that is left this hour is' : `the ${left} requests that are left this hour are`;
  return `${waits}: ${kept} kept for creating and publishing`;
}

/** Why a file that is ready has not been published yet. */
function publishWords(facts: Facts, waits: readonly FeedWait[], nowMs: number): string {
  const feeds = feedsToPublish(facts);
  const ours = waits.filter(({ feed }) => feeds.includes(feed));
  const failing = ours.find(({ failure }) => failure !== null);
  if (failing?.failure) {
    const next = failing.nextTryAt === null ? '' : `; next try at ${clockTime(failing.nextTryAt, nowMs)}`;
    return `feed ${failing.feed} could not be published: ${failing.failure.message}${next}`;
  }
  const latestAt = Math.max(...ours.map(({ latestAt: at }) => at));
  const until =
    Number.isFinite(latestAt) && latestAt > nowMs ? `, until ${clockTime(latestAt, nowMs)} at the latest` : '';
  return `waiting to publish several at once${until}`;
}
