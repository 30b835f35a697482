import type { KeptEvents, OperatorPause } from './events.ts';
import type { Clock, Elsewhere, PauseStore } from './file/ports.ts';
import { believed } from './file/stored-time.ts';

/** Pauses that people set: what runs is finished, and nothing new of a folder, or nothing at all, is begun. */
export interface OperatorPauses {
  /** Those that hold now, oldest first. */
  list(): readonly OperatorPause[];
  /** The pause of a folder or of everything that keeps its files from beginning; null: none. */
  holds(folder: string): OperatorPause | null;
  /** Of everything; null: none. */
  all(): OperatorPause | null;
  /**
   * On disk when it resolves. A second one of the same folder replaces the first, and keeps its beginning.
   *
   * @param wanted.folder absolute; null: everything
   * @param wanted.until epoch milliseconds; null: until somebody ends it
   */
  set(wanted: Omit<OperatorPause, 'since'>): Promise<OperatorPause>;
  /** @param by who ends it @returns null when there was none */
  end(folder: string | null, by: string): Promise<OperatorPause | null>;
  /** Reads them when that was not done yet, or others may have changed them; ends those that are over by the clock on the wall. */
  keep(): Promise<void>;
}

export interface OperatorPausesWorld {
  readonly store: PauseStore;
  readonly clock: Clock;
  /** Null: nobody else writes them. */
  readonly elsewhere: Pick<Elsewhere, 'isHeld'> | null;
  readonly events: KeptEvents;
  /** Files may begin that had to wait. */
  readonly ended: () => void;
}

/** What was said on another host holds here so much later at most. */
const lookAgainMs = 2_000;

/** The clock on the wall and the monotonic one drift apart. Less than this is no clock that was set. */
const driftMs = 1_000;

export function createOperatorPauses({ store, clock, elsewhere, events, ended }: OperatorPausesWorld): OperatorPauses {
  let pauses: readonly OperatorPause[] | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let lookAt = -Infinity;
  /** When each pause ends at the latest, by the clock that no one sets: a pause never lasts longer than it was set for. */
  let latest: ReadonlyMap<string, number> = new Map();

  /** What another host has said is told there. */
  const read = async (): Promise<readonly OperatorPause[]> => {
    const before = pauses ?? [];
    const now = await store.pauses();
    know(now);
    lookAt = clock.elapsed() + lookAgainMs;
    if (before.some(({ folder }) => !now.some((one) => one.folder === folder))) ended();
    return now;
  };

  /** One after the other: memory and disk must not differ in which came last. */
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
    list: shown,
    holds: (folder) => shown().find((pause) => pause.folder === null || pause.folder === folder) ?? null,
    all: () => shown().find(({ folder }) => folder === null) ?? null,
    set: (wanted) =>
      inTurn(async (now) => {
        const before = now.find(({ folder }) => folder === wanted.folder);
        const pause = { ...wanted, since: before?.since ?? clock.now() };
        const event = { type: 'operator-pause', pause, is: 'set', by: pause.by } as const;
        await store.savePause(pause, events.rowOf(event));
        know([...now.filter(({ folder }) => folder !== wanted.folder), pause]);
        events.emit(event);
        return pause;
      }),
    end: (wanted, by) =>
      inTurn(async (now) => {
        const pause = now.find(({ folder }) => folder === wanted);
        if (pause === undefined) return null;
        await drop(pause, by);
        return pause;
      }),
    keep: async () => {
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
