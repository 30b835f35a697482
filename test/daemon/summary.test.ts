import { expect, test } from 'vitest';
import { createSummary } from '../../src/daemon/summary.ts';
import { createEventStream } from '../../src/daemon/events.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { someFacts } from '../pipeline/some-facts.ts';

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
  const conductor = { uploads: () => [upload] };
  const summary = createSummary({
    ledger,
    events,
    conductor,
    folders: { countSettling: () => 0 },
    gate,
    waits: () => [],
  });
  return { summary, events, ledger };
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
    waits: [],
    requests: { used: 412, limit: 1_000 },
  });
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
