import { onTestFinished } from 'vitest';
import { createConductor } from '../../src/pipeline/conductor.ts';
import type { ConductorSettings, ConductorWorld } from '../../src/pipeline/conductor.ts';
import { alwaysOurs } from '../../src/pipeline/file/ports.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { FakeHost } from './fake-host.ts';
import { rowsOf } from './held-rows.ts';
import { MemoryStore } from './memory-store.ts';
import { recordingLogger, silentLogger } from './silent-logger.ts';
import { someFacts, someVersion } from './some-facts.ts';
import { someRoom } from './some-room.ts';
import { TestClock } from './test-clock.ts';
import type { DropcastEvent } from '../../src/pipeline/events.ts';

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

/** So many new files, each of its own size. */
export function files(count: number): Facts[] {
  return Array.from({ length: count }, (_, n) =>
    someFacts({ id: `f_${n}`, path: `${n}.mp4`, version: { ...someVersion, size: n } }),
  );
}

/** A disk on which all goes well. */
export const someLocal: ConductorWorld['local'] = {
  check: async () => null,
  hash: async ({ id }) => ({ ok: true, value: id }),
  checksums: async () => ({ ok: true, value: [] }),
  dispose: async () => ({ ok: true, value: null }),
};

/** What outlives a restart: the clock, the ledger and the service. */
export function outside(rows: readonly Facts[]) {
  return { clock: new TestClock(100 * day), store: new MemoryStore(rows), service: new FakeHost() };
}

/** What surrounds a pipeline on which nobody else works: a disk on which all goes well, and requests without end. */
export function someWorld({ clock, store, service }: ReturnType<typeof outside>): ConductorWorld {
  let tokens = 0;
  return {
    store,
    host: service.host,
    library: service.library,
    local: someLocal,
    budget: { take: async (_lane, signal) => !signal.aborted, room: () => someRoom() },
    receipts: { append: async () => undefined },
    rows: rowsOf(store),
    events: { emit: () => undefined, rowOf: () => null },
    clock,
    diskOf: async () => null,
    freedBy: async () => null,
    durationOf: async () => null,
    takeBackNote: 'undo:',
    isArchiveSeen: () => true,
    logger: silentLogger,
    uploadsStartAt: () => null,
    quota: () => null,
    mayTake: () => true,
    turn: alwaysOurs,
    elsewhere: null,
    isOffLimits: () => false,
    newToken: () => `token ${(tokens += 1)}`,
  };
}

/** The pipeline over a service in memory, until the end of the test. Time stands still but for what the test lets pass. */
export function startCore(
  { clock, store, service }: ReturnType<typeof outside>,
  other: Partial<ConductorWorld> = {},
  settings: Partial<ConductorSettings> = {},
) {
  const told: DropcastEvent[] = [];
  const events = { emit: (event: DropcastEvent) => void told.push(event), rowOf: () => null };
  const rows = rowsOf(store, events);
  const initial: ConductorSettings = {
    uploads: 4,
    isAuto: false,
    folderUploads: new Map(),
    maxSizeBytes: Infinity,
    retry: { attempts: 12, firstMs: 1_000, maxMs: 10 * minute },
    poll: { intervalMs: 1_000, giveUpAfterMs: 24 * hour },
    publish: { quietMs: 2_000, atMostMs: minute },
    deletesIn: ['/inbox'],
    isMarking: false,
    ...settings,
  };
  const conductor = createConductor(
    { ...someWorld({ clock, store, service }), rows, events, logger: recordingLogger(), ...other },
    initial,
  );
  onTestFinished(() => conductor.stop(AbortSignal.abort()));
  conductor.start();
  /** Lets time pass in small steps until it is so; fails the test if it never is. */
  const until = async (condition: () => boolean | Promise<boolean>, stepMs = 250): Promise<void> => {
    for (let n = 0; n < 40_000; n += 1) {
      if (await condition()) return;
      clock.advance(stepMs);
      conductor.wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error(`it never came to that: ${store.states().join(', ')}`);
  };
  const pass = async (ms: number): Promise<void> => {
    const end = clock.elapsed() + ms;
    await until(() => clock.elapsed() >= end, 1_000);
  };
  const paid = (): number => Math.max(...store.all.map(({ attempts }) => attempts));
  const stop = (): Promise<void> => conductor.stop(AbortSignal.abort());
  return { conductor, settings: initial, clock, store, service, told, until, pass, paid, stop };
}
