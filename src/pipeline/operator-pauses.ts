import type { KeptEvents, OperatorPause } from './events.ts';
import type { Clock, Elsewhere, PauseStore } from './file/ports.ts';
import { believed } from './ages.ts';

export interface OperatorPausesWorld {
  readonly store: PauseStore;
  readonly clock: Clock;
  readonly elsewhere: Pick<Elsewhere, 'isHeld'> | null;
  readonly events: KeptEvents;
  /** Called when files held by a pause may start. */
  readonly ended: () => void;
}

/** How long a pause set on another host may take to apply on this one. */
const lookAgainMs = 2_000;

/**
 * Largest drift between the wall clock and the monotonic clock that is normal. Only a larger difference means that the
 * clock was set.
 */
const driftMs = 1_000;

export type OperatorPauses = ReturnType<typeof createOperatorPauses>;

/**
 * Keeps the operator's pauses. During a pause, steps in progress finish, and nothing new starts in the folder, or
 * anywhere.
 */
export function createOperatorPauses({ store, clock, elsewhere, events, ended }: OperatorPausesWorld) {
  let pauses: readonly OperatorPause[] | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let lookAt = -Infinity;
  /** Latest end of each pause on the monotonic clock, so that no pause lasts longer than it was set for. */
  let latest: ReadonlyMap<string, number> = new Map();

  /** Reads the pauses. A change made on another host was already reported there. */
  const read = async (): Promise<readonly OperatorPause[]> => {
    const before = pauses ?? [];
    const now = await store.pauses();
    know(now);
    lookAt = clock.elapsed() + lookAgainMs;
    if (before.some(({ folder }) => !now.some((one) => one.folder === folder))) ended();
    return now;
  };

  /** Runs changes one after the other, so that memory and disk agree on the last one. */
  const inTurn = <T>(work: (now: readonly OperatorPause[]) => Promise<T>): Promise<T> => {
    const done = last.then(async () => work(pauses === null || elsewhere !== null ? await read() : pauses));
    last = done.catch(() => undefined);
    return done;
  };

  const drop = async (pause: OperatorPause, by: string | null): Promise<void> => {
    const event = { type: 'operator-pause', pause, is: 'over', by } as const;
    await store.dropPause(pause.folder, events.rowOf(event));
    know((pauses ?? []).filter(({ folder }) => folder !== pause.folder));
    events.emit(event);
    ended();
  };

  const know = (all: readonly OperatorPause[]): void => {
    latest = new Map(all.map((pause) => [keyOf(pause), latest.get(keyOf(pause)) ?? latestEnd(pause, clock)]));
    pauses = all;
  };

  const leftMs = (pause: OperatorPause): number => (latest.get(keyOf(pause)) ?? Infinity) - clock.elapsed();

  const isOver = (pause: OperatorPause): boolean =>
    pause.until !== null && Math.min(pause.until - clock.now(), leftMs(pause)) <= 0;

  const shown = (): readonly OperatorPause[] =>
    (pauses ?? []).map((pause) => {
      const { until } = pause;
      const endsAt = clock.now() + Math.ceil(leftMs(pause));
      return { ...pause, until: until !== null && until - endsAt > driftMs ? endsAt : until };
    });

  return {
    /** Returns the pauses in force, oldest first. */
    list: shown,
    /**
     * Returns the pause, of this folder or of everything, that keeps the folder's files from starting; null if there is
     * none.
     */
    holds: (folder: string): OperatorPause | null =>
      shown().find((pause) => pause.folder === null || pause.folder === folder) ?? null,
    all: (): OperatorPause | null => shown().find(({ folder }) => folder === null) ?? null,
    /**
     * Sets a pause, which is on disk when the promise resolves. A second pause of the same folder replaces the first
     * and keeps its start.
     *
     * @param wanted.folder absolute path; null for everything
     * @param wanted.until epoch milliseconds; null until the operator ends it
     */
    set: (wanted: Omit<OperatorPause, 'since'>): Promise<OperatorPause> =>
      inTurn(async (now) => {
        const before = now.find(({ folder }) => folder === wanted.folder);
        const pause = { ...wanted, since: before?.since ?? clock.now() };
        const event = { type: 'operator-pause', pause, is: 'set', by: pause.by } as const;
        await store.savePause(pause, events.rowOf(event));
        know([...now.filter(({ folder }) => folder !== wanted.folder), pause]);
        events.emit(event);
        return pause;
      }),
    /** @param by who ends the pause @returns null if there was none */
    end: (wanted: string | null, by: string): Promise<OperatorPause | null> =>
      inTurn(async (now) => {
        const pause = now.find(({ folder }) => folder === wanted);
        if (pause === undefined) return null;
        await drop(pause, by);
        return pause;
      }),
    /**
     * Reads the pauses if they have not been read yet or other hosts may have changed them, and ends those that are
     * over on the wall clock.
     */
    keep: async (): Promise<void> => {
      const isOld = elsewhere !== null && clock.elapsed() >= lookAt;
      if (pauses === null || isOld || pauses.some(isOver))
        await inTurn(async (now) => {
          for (const pause of now.filter(isOver)) await drop(pause, null);
        });
    },
  };
}

function keyOf({ folder, since, until }: OperatorPause): string {
  return JSON.stringify([folder, since, until]);
}

function latestEnd({ since, until }: OperatorPause, clock: Clock): number {
  if (until === null) return Infinity;
  return clock.elapsed() + believed(until, clock.now(), until - since) - clock.now();
}
