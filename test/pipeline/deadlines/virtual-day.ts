import { earliestOf } from '../../../src/pipeline/earliest.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { bigBytes } from '../../../src/pipeline/file/queue.ts';
import { createLanes } from '../../../src/pipeline/steps/lanes.ts';
import { MemoryStore } from '../memory-store.ts';
import { created, someFacts, somePlan, someVersion, uploaded } from '../some-facts.ts';

export const minute = 60_000;
const hour = 60 * minute;
const MB = 1e6;

/** The desk's line and account. All times are known to the simulation only. */
export const desk = { slots: 4, bytesPerMs: 3_500, requestsPerHour: 80, pollMs: 15_000 } as const;

/** A file of the day. Times are milliseconds from its beginning. */
export interface Drop {
  readonly id: string;
  readonly at: number;
  readonly bytes: number;
  readonly processingMs: number;
  /** Null: it has no deadline. */
  readonly by: number | null;
}

/** A day in which clips with a deadline come in bursts, between files that have none. */
export function dropsOf(seed: number): readonly Drop[] {
  const random = randomOf(seed);
  const between = (least: number, most: number): number => least + random() * (most - least);
  const processing = (bytes: number): number => between(10_000, 30_000) + bytes / between(20_000, 40_000);
  const others = Array.from({ length: 700 }, (_, n): Drop => {
    const bytes = random() < 0.04 ? between(500, 3_000) * MB : between(20, 240) * MB;
    // An archive of 200 comes at once.
    const at = n < 200 ? 3 * hour : between(0, 20 * hour);
    return { id: `any_${n}`, at, bytes, processingMs: processing(bytes), by: null };
  });
  const bursts = Array.from({ length: 45 }, () => between(0, 20 * hour));
  const due = Array.from({ length: 450 }, (_, n): Drop => {
    const at = (bursts[n % bursts.length] ?? 0) + between(0, 4 * minute);
    const bytes = random() < 0.03 ? between(300, 900) * MB : between(10, 200) * MB;
    return { id: `due_${n}`, at, bytes, processingMs: processing(bytes), by: at + between(8, 45) * minute };
  });
  return [...others, ...due].toSorted((one, other) => one.at - other.at);
}

export interface Outcome {
  /** Ids of the files that were ready by their deadline. */
  readonly met: ReadonlySet<string>;
  /** Ids of the files that were called certainly late at some time before they were ready. */
  readonly calledLate: ReadonlySet<string>;
  /** Uploads of files with a deadline in a row, while a small file without one waited for a slot. */
  readonly mostInARow: number;
  /** Longest time from the arrival of a file without a deadline to its end. */
  readonly longestWaitMs: number;
}

/** Decides which files start next: calls `start`, and runs again after each change. */
export type Scheduler = (day: Day) => { pump(): Promise<void> };

export interface Day {
  readonly store: MemoryStore;
  readonly drops: ReadonlyMap<string, Drop>;
  /** Does the next step of a file: its create request, or its upload. */
  start(id: string): Promise<boolean>;
}

/** The lanes of dropcast. @param isFifo without deadlines, as before them */
export const ours: Scheduler = ({ store, start }) =>
  createLanes(
    {
      store,
      mayCreate: async () => true,
      uploadsStartAt: () => null,
      mayTake: () => true,
      isOffLimits: () => false,
      isPaused: () => false,
      uploadHosts: { isOpen: () => true, admit: () => true, mayCreate: () => true },
      onEnd: () => undefined,
      runner: { run: start },
    },
    { uploads: desk.slots, folderUploads: new Map() },
  );

/**
 * Earliest deadline first with known processing times: the file that must be sent first goes first. A file without a
 * deadline starts when none with a deadline waits, or once in a fixed number of starts.
 */
export const clairvoyant =
  (othersOneIn = Infinity): Scheduler =>
  ({ store, drops, start }) => {
    const inARow = { true: 0, false: 0 };
    const running = new Map<string, boolean>();
    const latest = ({ id }: Facts): number => {
      const { by = null, processingMs = 0 } = drops.get(id) ?? {};
      return by === null ? Infinity : by - processingMs;
    };
    const begin = (facts: Facts): void => {
      running.set(facts.id, facts.videoId === null);
      void start(facts.id).finally(() => running.delete(facts.id));
    };
    const fill = (isCreate: boolean, most: number, mayRun: (facts: Facts) => boolean): void => {
      while ([...running.values()].filter((isOne) => isOne === isCreate).length < most) {
        const order = store.all
          .filter((facts) => facts.uploadedAt === null && (facts.videoId === null) === isCreate)
          .filter((facts) => !running.has(facts.id) && mayRun(facts))
          .toSorted((one, other) => latest(one) - latest(other));
        const other = order.find((facts) => latest(facts) === Infinity);
        const next = inARow[`${isCreate}`] + 1 >= othersOneIn ? (other ?? order[0]) : order[0];
        if (next === undefined) return;
        inARow[`${isCreate}`] = latest(next) === Infinity ? 0 : inARow[`${isCreate}`] + 1;
        begin(next);
      }
    };
    return {
      pump: async () => {
        const big = (): number =>
          store.all.filter(({ id, version }) => running.get(id) === false && version.size > bigBytes).length;
        fill(false, desk.slots, ({ version }) => version.size <= bigBytes || big() < desk.slots - 1);
        fill(true, 2, () => store.all.filter(({ videoId }) => videoId !== null).length < 4 * desk.slots);
      },
    };
  };

interface Upload {
  readonly drop: Drop;
  left: number;
  done(): void;
}

/** Lives a day. @param isDue whether the rows say when a file must be ready */
export async function live(drops: readonly Drop[], scheduler: Scheduler, isDue = true): Promise<Outcome> {
  const store = new MemoryStore();
  const byId = new Map(drops.map((drop) => [drop.id, drop]));
  const met = new Set<string>();
  const calledLate = new Set<string>();
  const uploads: Upload[] = [];
  const alarms: { at: number; ring(): Promise<void> }[] = [];
  const requests: number[] = [];
  const fastest: { bytes: number; ms: number }[] = [];
  let [now, inARow, mostInARow, longestWaitMs, nextLook] = [0, 0, 0, 0, 0];

  const roomAt = (at: number): number => requests.filter((sent) => sent > at - hour).length;
  const nextRequestAt = (): number => {
    if (roomAt(now) < desk.requestsPerHour) return now;
    return (requests.at(-desk.requestsPerHour) ?? now) + hour;
  };

  const change = async (id: string, other: Partial<Facts>): Promise<void> => {
    await store.save({ ...store.row(id), ...other });
  };

  const start = (id: string): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const drop = byId.get(id) as Drop;
    if (store.row(id).videoId === null) {
      const at = nextRequestAt();
      requests.push(at);
      alarms.push({
        at: at + 300,
        ring: async () => {
          await change(id, { ...created, videoId: `vid_${id}` });
          resolve(true);
        },
      });
      return promise;
    }
    const isSmallWaiting = store.all.some(
      (facts) =>
        facts.id.startsWith('any_') &&
        facts.videoId !== null &&
        facts.uploadedAt === null &&
        facts.version.size <= bigBytes &&
        !uploads.some((upload) => upload.drop.id === facts.id),
    );
    inARow = drop.by !== null && isSmallWaiting ? inARow + 1 : 0;
    mostInARow = Math.max(mostInARow, inARow);
    uploads.push({ drop, left: drop.bytes, done: () => resolve(true) });
    return promise;
  };

  const sent = async ({ drop, done }: Upload): Promise<void> => {
    const endsAt = Math.ceil((now + drop.processingMs) / desk.pollMs) * desk.pollMs;
    await change(drop.id, { ...uploaded, videoId: `vid_${drop.id}`, uploadedAt: now, processingSince: now });
    done();
    const ring = async (): Promise<void> => {
      if (drop.by !== null && now <= drop.by) met.add(drop.id);
      if (drop.by === null) longestWaitMs = Math.max(longestWaitMs, now - drop.at);
      fastest.push({ bytes: drop.bytes, ms: drop.processingMs });
      store.all.splice(store.all.indexOf(store.row(drop.id)), 1);
    };
    alarms.push({ at: endsAt, ring });
  };

  /** Asks the estimate which files are certainly late. */
  const look = async (): Promise<void> => {
    const due = await store.rows({ group: 'due', limit: 1_000 });
    const times = earliestOf(due, {
      now,
      pace: {
        bytesPerSecond: 1_000 * desk.bytesPerMs,
        bandwidth: null,
        mayStart: true,
        later: [],
        slots: desk.slots,
        room: {
          limit: desk.requestsPerHour,
          left: Math.max(0, desk.requestsPerHour - roomAt(now)),
          closedMs: 0,
          frees: requests.filter((at) => at > now - hour).map((at) => [at + hour - now, 1] as const),
        },
      },
      sent: new Map(uploads.map(({ drop, left }) => [drop.id, drop.bytes - left])),
      fastestMs: (size) =>
        Math.min(...fastest.filter(({ bytes }) => bytes <= size && bytes >= size / 4).map(({ ms }) => ms), Infinity) ||
        0,
      mayBePassed: () => false,
    });
    for (const { id } of due) {
      const inMs = times.get(id)?.inMs ?? 0;
      const by = byId.get(id)?.by ?? Infinity;
      if (Number.isFinite(inMs) && now <= by && now + inMs > by) calledLate.add(id);
    }
  };

  const lanes = scheduler({ store, drops: byId, start });
  const arrivals = [...drops];
  while (arrivals.length + store.all.length > 0) {
    const rate = uploads.length === 0 ? 0 : desk.bytesPerMs / uploads.length;
    const endsAt = uploads.length === 0 ? Infinity : now + Math.min(...uploads.map(({ left }) => left)) / rate;
    const at = Math.min(arrivals[0]?.at ?? Infinity, endsAt, ...alarms.map((alarm) => alarm.at));
    if (at === Infinity) throw new Error(`no event is left, and files wait: ${store.states().join(', ')}`);
    for (const upload of uploads) upload.left -= rate * (at - now);
    now = at;
    while ((arrivals[0]?.at ?? Infinity) <= now) store.all.push(rowOf(arrivals.shift() as Drop, isDue));
    for (const upload of uploads.filter(({ left }) => left <= 0.5)) {
      uploads.splice(uploads.indexOf(upload), 1);
      await sent(upload);
    }
    for (const alarm of alarms.filter((one) => one.at <= now)) {
      alarms.splice(alarms.indexOf(alarm), 1);
      await alarm.ring();
    }
    await new Promise((resolve) => setImmediate(resolve));
    await lanes.pump();
    if (now < nextLook) continue;
    await look();
    nextLook = now + minute;
  }
  return { met, calledLate, mostInARow, longestWaitMs };
}

function rowOf({ id, at, bytes, by }: Drop, isDue: boolean): Facts {
  return someFacts({
    id,
    path: `${id}.mp4`,
    folder: id.startsWith('due') ? '/news' : '/any',
    discoveredAt: at,
    version: { ...someVersion, size: Math.round(bytes) },
    plan: { ...somePlan, ...(by !== null && isDue && { readyBy: { afterMs: by - at } }) },
  });
}

/** A generator of numbers from 0 to 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
