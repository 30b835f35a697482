import { expect, test } from 'vitest';
import { countWrites, createBrief } from '../../src/daemon/brief.ts';
import { someFacts } from '../pipeline/some-facts.ts';

const gate = { snapshot: () => ({ used: 412, limit: 1_000, blockedUntil: 0, waiting: 0, total: 9_000 }) };
const upload = { id: 'f_1', sentBytes: 0, startedAt: 0 };

function open(counts: Record<string, number>) {
  const ledger = {
    reads: 0,
    counts: async () => {
      ledger.reads += 1;
      return counts;
    },
  };
  const { counted, written } = countWrites({
    save: async (facts) => facts,
    insert: async () => undefined,
  });
  const conductor = { uploads: () => [upload], pause: () => null };
  const folders = { settling: () => [], away: () => 2 };
  return { brief: createBrief({ ledger, written, conductor, folders, gate }), counted, ledger };
}

test('a file that is uploaded is in the ledger as one that waits for it, and counted once', async () => {
  const { brief } = open({ 'awaiting upload': 3, queued: 2, failed: 1, held: 4, done: 5, skipped: 6 });
  expect(await brief()).toMatchObject({
    uploading: 1,
    queued: 4,
    needsYou: 5,
    done: 5,
    away: 2,
    requests: { used: 412, limit: 1_000 },
  });
});

test('the rows are counted again only when one was written', async () => {
  const { brief, counted, ledger } = open({ done: 1 });
  for (let n = 0; n < 100; n += 1) await brief();
  expect(ledger.reads).toBe(1);
  await counted.save(someFacts());
  await brief();
  expect(ledger.reads).toBe(2);
  await counted.insert(someFacts());
  for (let n = 0; n < 100; n += 1) await brief();
  expect(ledger.reads).toBe(3);
});
