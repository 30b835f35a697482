import { expect, test } from 'vitest';
import { createSummary } from '../../src/daemon/summary.ts';
import { createEventStream } from '../../src/daemon/events.ts';
import type { OperatorPauses } from '../../src/pipeline/operator-pauses.ts';
import { noPauses } from './no-pauses.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { awayWhy } from './fleet/fake-fleet.ts';

const gate = {
  snapshot: () => ({
    used: 412,
    limit: 1_000,
    blockedUntil: 0,
    waiting: 0,
    total: 9_000,
    frees: [],
    blockedMs: 0,
    others: 0,
  }),
};
const upload = { id: 'f_1', sentBytes: 0, sizeBytes: 9, startedAt: 0, idleMs: 0, bytesPerSecond: null };

function open(counts: Record<string, number>) {
  const ledger = {
    reads: 0,
    counts: async () => {
      ledger.reads += 1;
      return counts;
    },
  };
  const events = createEventStream(silentLogger);
  const times = { startAt: (): number | null => null };
  const conductor = {
    uploads: () => [upload],
    pause: () => null,
    pauses: noPauses as OperatorPauses,
    createsWaitUntil: (): number | null => null,
  };
  const folders = { countSettling: () => 0, frozen: () => 2 };
  const fleet = { whyAway: (): string | null => null };
  const summary = createSummary({ ledger, events, conductor, folders, gate, times, fleet });
  return { summary, events, ledger, conductor, times, fleet };
}

test('a file that is uploaded is in the ledger as one that waits for it, and counted once', async () => {
  const { summary } = open({
    'awaiting upload': 3,
    queued: 2,
    failed: 1,
    held: 4,
    done: 5,
    skipped: 6,
    'not put away': 2,
  });
  expect(await summary()).toMatchObject({
    uploading: 1,
    queued: 4,
    needsYou: 7,
    done: 5,
    frozen: 2,
    requests: { used: 412, limit: 1_000 },
  });
});

test('it waits for too many create requests without an answer', async () => {
  const { summary, conductor } = open({ queued: 2 });
  conductor.createsWaitUntil = () => Date.now() + 60_000;
  expect((await summary()).waiting).toMatch(/no usable answer/);
});

test('it waits for the hours of uploads only if a file waits', async () => {
  for (const [counts, waiting] of [
    [{ queued: 2 }, 'uploads start at 20:00'],
    [{ done: 2 }, null],
  ] as const) {
    const { summary, times } = open(counts);
    times.startAt = () => new Date().setHours(20, 0, 0, 0);
    expect((await summary()).waiting).toBe(waiting);
  }
});

test('the rows are counted again only when one was written', async () => {
  const { summary, events, ledger } = open({ done: 1 });
  for (let n = 0; n < 100; n += 1) await summary();
  expect(ledger.reads).toBe(1);
  events.emit({ type: 'file', before: someFacts(), facts: someFacts(), note: null });
  await summary();
  expect(ledger.reads).toBe(2);
  events.emit({ type: 'file', before: null, facts: someFacts(), note: null });
  for (let n = 0; n < 100; n += 1) await summary();
  expect(ledger.reads).toBe(3);
});

test('what waits, waits for the database while that is away', async () => {
  const { summary, fleet } = open({});
  expect((await summary()).waiting).toBeNull();
  fleet.whyAway = () => awayWhy;
  expect((await summary()).waiting).toBe(awayWhy);
});
