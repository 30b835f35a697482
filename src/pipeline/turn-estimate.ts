import { untilRoomMs } from './estimate.ts';
import type { Pace } from './estimate.ts';
import { priorities } from './file/queue.ts';
import type { Line, Place } from './file/queue.ts';
import { begun, sendingMs } from './sending-time.ts';
import { passedOver, smallInARow } from './steps/turns.ts';

/** An upload under way. */
interface Running {
  readonly bytesLeft: number;
  /** Its own speed; null: not measured yet. */
  readonly bytesPerSecond: number | null;
}

/** What starts before a file. */
interface Ahead {
  /** Records that are created before its upload starts, its own among them. */
  readonly creates: number;
  readonly files: number;
  readonly bytes: number;
}

/** Pure: until the bytes of an upload are sent, in milliseconds. It keeps its share of the speed of all. Null: not known. */
export function uploadedInMs({ bytesLeft, bytesPerSecond }: Running, pace: Pace): number | null {
  if (bytesLeft === 0) return 0;
  if (bytesPerSecond === null) return null;
  const all = Math.max(bytesPerSecond, pace.bytesPerSecond ?? 0);
  return sendingMs(bytesLeft * (all / bytesPerSecond), begun({ ...pace, bytesPerSecond: all }));
}

/** Pure: until a file that waits has a slot, in milliseconds, if all that is known goes on as it is; null: not known. */
export function startsInMs(ahead: Ahead, uploads: readonly Running[], pace: Pace): number | null {
  const sentInMs = sendingMs(bytesBefore(ahead, uploads, pace), pace);
  return sentInMs === null ? null : Math.max(sentInMs, untilRoomMs(ahead.creates, pace.room));
}

/** So many files are put into slots one by one; of more, that makes no difference. */
const mostCounted = 1_000;

/** How many bytes all uploads together send before a slot is free for it. */
function bytesBefore({ files, bytes }: Ahead, uploads: readonly Running[], pace: Pace): number {
  const { slots } = pace;
  const running = uploads.map((upload) => bytesOfAll(upload, pace)).slice(0, slots);
  const free = [...running, ...Array<number>(slots - running.length).fill(0)];
  if (files > mostCounted) return free.reduce((sum, each) => sum + each, 0) / slots + bytes;
  const each = (bytes / Math.max(1, files)) * slots;
  for (let n = 0; n < Math.round(files); n += 1) {
    const first = free.indexOf(Math.min(...free));
    free[first] = (free[first] ?? 0) + each;
  }
  return Math.min(...free);
}

/** What all uploads together send until this one is done. Without a speed of its own, its share is that of a slot. */
function bytesOfAll({ bytesLeft, bytesPerSecond }: Running, { bytesPerSecond: all, slots }: Pace): number {
  if (bytesPerSecond === null || all === null) return bytesLeft * slots;
  return bytesLeft === 0 ? 0 : (bytesLeft * Math.max(all, bytesPerSecond)) / bytesPerSecond;
}

/** Pure: what starts before a file, about: whose turn it is says `turns.ts`. */
export function filesAhead(place: Place, lines: readonly Line[]): Ahead {
  const records = place.state === 'queued' ? lines.filter(({ state }) => state === 'awaiting upload') : [];
  const counts = [...records.map((line) => [line, line.files] as const), ...turnsBefore(place, lines)];
  const sum = (of: (line: Line, files: number) => number): number =>
    counts.reduce((total, [line, files]) => total + of(line, files), 0);
  return {
    creates: place.state === 'queued' ? Math.ceil(sum(({ state }, files) => (state === 'queued' ? files : 0))) + 1 : 0,
    files: sum((_, files) => files),
    bytes: sum((line, files) => (line.bytes / line.files) * files),
  };
}

type Count = readonly [line: Line, files: number];

/** Of each queue how many have their turn before it. */
function turnsBefore(place: Place, lines: readonly Line[]): readonly Count[] {
  const rivals = lines.filter(({ state, files }) => state === place.state && files > 0);
  const same = rivals.filter(({ priority }) => priority === place.priority);
  const own = same.filter(({ folder }) => folder === place.folder).map((line): Count => [line, ofFolder(place, line)]);
  const ownTurns = total(own);
  // The other folders are before and after it in turn.
  const others = shared(
    same.filter(({ folder }) => folder !== place.folder),
    ownTurns + 0.5,
  );
  const equal = total([...own, ...others]);
  const rank = priorities.indexOf(place.priority);
  const higher = rivals.filter(({ priority }) => priorities.indexOf(priority) < rank);
  const urgent = spread(higher, passedOver[place.priority] * (equal + 1));
  const lower = priorities.slice(rank + 1).flatMap((priority) => {
    const ofPriority = rivals.filter((line) => line.priority === priority);
    return spread(ofPriority, (equal + total(urgent)) / passedOver[priority]);
  });
  return [...own, ...others, ...urgent, ...lower];
}

/** Of its own folder: those before it, and big ones between small ones. */
function ofFolder({ isBig, before }: Place, line: Line): number {
  if (line.isBig === isBig) return before;
  return Math.min(line.files, isBig ? smallInARow * (before + 1) : before / smallInARow);
}

/** Each folder has so many turns. */
function shared(lines: readonly Line[], turns: number): readonly Count[] {
  const folders = Map.groupBy(lines, ({ folder }) => folder);
  return [...folders.values()].flatMap((ofFolder) => spread(ofFolder, turns));
}

/** So many starts, of all that are there in proportion. */
function spread(lines: readonly Line[], starts: number): readonly Count[] {
  const there = lines.reduce((sum, { files }) => sum + files, 0);
  const share = there === 0 ? 0 : Math.min(1, starts / there);
  return lines.map((line): Count => [line, line.files * share]);
}

function total(counts: readonly Count[]): number {
  return counts.reduce((sum, [, files]) => sum + files, 0);
}
