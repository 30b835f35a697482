import { untilRoomMs } from './estimate.ts';
import type { Pace } from './estimate.ts';
import type { Facts } from './file/facts.ts';
import { bigBytes } from './file/queue.ts';
import { sendingMs } from './sending-time.ts';

/** The earliest time at which a file can be ready, from now. What was never measured takes no time. */
export interface Earliest {
  readonly inMs: number;
  /** What takes longest until then. */
  readonly because: 'bytes' | 'requests' | 'retry' | 'processing';
  /** Bytes to send until then, those of the files before it included. */
  readonly bytes: number;
}

export interface EarliestWorld {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly pace: Pick<Pace, 'bytesPerSecond' | 'bandwidth' | 'mayStart' | 'later' | 'slots' | 'room'>;
  /** Bytes of each running upload that were sent. */
  readonly sent: ReadonlyMap<string, number>;
  /** Returns the shortest processing time seen for a video of about this size; null: none yet. */
  fastestMs(sizeBytes: number): number | null;
  /** Whether a file may be passed over by those behind it. */
  mayBePassed(facts: Facts): boolean;
}

/** The line may be this much faster than measured before a file counts as certainly late. */
const reserve = 1.25;

/**
 * Returns when each file can be ready at the earliest, from the bytes and requests that are left and the processing times
 * seen. Pure.
 *
 * @param due by urgency: none starts before those ahead of it. A list of one is a file of its own.
 */
export function earliestOf(due: readonly Facts[], world: EarliestWorld): ReadonlyMap<string, Earliest> {
  const left = due.map((facts) => bytesLeft(facts, world.sent.get(facts.id) ?? 0));
  return new Map(
    due.map((facts, place): [string, Earliest] => {
      // A big file leaves a slot to small ones, and a file with its record may start before one without.
      const startsBefore = (other: Facts): boolean =>
        isBig(other) === isBig(facts) &&
        (facts.videoId === null || other.videoId !== null) &&
        !world.mayBePassed(other);
      const before = due.flatMap((other, n) => (n < place && startsBefore(other) ? [n] : []));
      const own = left[place] ?? 0;
      const bytes =
        own === 0 || world.sent.has(facts.id)
          ? own
          : own +
            sumOfLeast(
              before.map((n) => left[n] ?? 0),
              world,
            );
      const creates = before.filter((n) => due[n]?.videoId === null).length;
      return [facts.id, earliestAfter(facts, world, { bytes, requests: facts.videoId === null ? creates + 1 : 0 })];
    }),
  );
}

/** All files before another but the largest, in the other slots, end before it starts. */
function sumOfLeast(bytes: readonly number[], { pace }: EarliestWorld): number {
  const least = bytes.toSorted((one, other) => one - other).slice(0, Math.max(0, bytes.length - pace.slots + 1));
  return least.reduce((sum, each) => sum + each, 0);
}

function earliestAfter(
  { uploadedAt, processingSince, notBefore, version }: Facts,
  { pace, now, fastestMs }: EarliestWorld,
  { bytes, requests }: { readonly bytes: number; readonly requests: number },
): Earliest {
  const waits = [
    ['bytes', bytes === 0 ? 0 : (sendingMs(bytes / reserve, pace) ?? 0)],
    ['requests', untilRoomMs(requests, pace.room)],
    ['retry', Math.max(0, (notBefore ?? now) - now)],
  ] as const;
  const processedMs = uploadedAt === null ? 0 : Math.max(0, now - (processingSince ?? now));
  const processing = ['processing', Math.max(0, (fastestMs(version.size) ?? 0) - processedMs)] as const;
  const parts = uploadedAt === null ? [...waits, processing] : [processing, ...waits];
  const [because] = parts.reduce((one, other) => (other[1] > one[1] ? other : one));
  return { inMs: Math.max(...waits.map(([, ms]) => ms)) + processing[1], because, bytes };
}

/** An upload that was interrupted continues after the bytes that may have been sent. */
function bytesLeft({ uploadedAt, sourceUrl, uploadSession, version }: Facts, sent: number): number {
  const sentBytes = Math.max(sent, uploadSession?.reach ?? 0);
  return uploadedAt !== null || sourceUrl !== null ? 0 : Math.max(0, version.size - sentBytes);
}

function isBig({ version }: Facts): boolean {
  return version.size > bigBytes;
}
