import { describe, expect, test } from 'vitest';
import { decide } from '../../../src/pipeline/file/machine.ts';
import { ignoredBy } from '../../../src/pipeline/file/reasons.ts';
import { createGiveBack } from '../../../src/pipeline/rounds/empty-records.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { Answer } from '../../../src/pipeline/file/ports.ts';
import { rowsOf } from '../held-rows.ts';
import { MemoryStore } from '../memory-store.ts';
import { recordingLogger } from '../silent-logger.ts';
import { created, failure, someFacts, uploaded } from '../some-facts.ts';
import { TestClock } from '../test-clock.ts';

const live = new AbortController().signal;
const left = { ...created, end: 'superseded', endedAt: 1 } as const;
const gone = { ok: false, failure: failure('gone') } as const;
const inDoubt = { ok: false, failure: failure('transient', { inDoubt: true }) } as const;
const pending = { ok: true, value: 'pending' } as const;

/** A round over these rows; the service has each video as `pending` until it is deleted. */
function open(...others: readonly Partial<Facts>[]) {
  const rows = others.map((other, n) => someFacts({ id: `f_${n + 1}`, path: `${n}.mp4`, ...other }));
  const store = new MemoryStore(rows);
  const clock = new TestClock();
  const logger = recordingLogger();
  const calls: string[] = [];
  const deleted = new Set<string>();
  const host = {
    status: async (videoId: string, _signal: AbortSignal, priority?: string): Promise<Answer<string>> => {
      calls.push(`status ${videoId}, ${priority}`);
      return deleted.has(videoId) ? gone : pending;
    },
    remove: async (videoId: string, _signal: AbortSignal, priority?: string): Promise<Answer<null>> => {
      const mark = store.all.find((facts) => facts.videoId === videoId)?.dying === true ? 'dying' : 'not dying';
      calls.push(`remove ${videoId}, ${priority}, ${mark} on disk`);
      deleted.add(videoId);
      return { ok: true, value: null };
    },
  };
  const receipts = { append: async (step: string) => void calls.push(`receipt ${step}`) };
  const rowsOfStore = rowsOf(store);
  const start = () => createGiveBack({ store, rows: rowsOfStore, host, receipts, clock, logger });
  let round = start();
  return {
    store,
    clock,
    host,
    calls,
    logger,
    rows: rowsOfStore,
    restart: () => (round = start()),
    run: async (minutes = 1) => {
      for (let n = 0; n < minutes; n += 1) {
        clock.advance(60_000);
        await round.run(live);
      }
    },
  };
}

const proof = ['status vid_1, poll', 'receipt dying', 'remove vid_1, poll, dying on disk', 'status vid_1, poll'];

describe('a record that stays empty', () => {
  test.each(['superseded', 'vanished', 'skipped'] as const)(
    'of a file that is %s is deleted: asked again, marked on disk, deleted, and looked for',
    async (end) => {
      const { store, calls, run } = open({ ...left, end });
      await run();
      expect(calls).toEqual(proof);
      expect(store.row()).toMatchObject({ end, videoId: null, dying: false });
      expect(await store.deletionsSince(0, Infinity)).toBe(1);
      await run(30);
      expect(calls).toEqual(proof);
    },
  );

  test('is left alone while a late request may still reach it', async () => {
    const { calls, clock, run } = open({ ...left, endedAt: 1_050_000 });
    await run();
    expect(calls).toEqual([]);
    clock.advance(60_000);
    await run();
    expect(calls).toEqual(proof);
  });

  test.for<[string, Partial<Facts>]>([
    ['a file that failed: a retry replaces it', { ...left, end: 'failed' }],
    ['a file that is held', { ...left, end: 'held' }],
    ['a file that waits', { ...created, notBefore: 9 }],
    ['a file on its way', created],
    ['a file whose bytes are there', { ...uploaded, end: 'superseded', endedAt: 1 }],
    ['no file: there never was one', { end: 'superseded', endedAt: 1 }],
    ['a record that is not empty', { ...left, remoteStatus: 'failed' }],
  ])('is not that of %s', async ([, other]) => {
    const { calls, run } = open(other);
    await run(30);
    expect(calls).toEqual([]);
  });

  test('is not one that another file has', async () => {
    const { calls, run } = open(left, created);
    await run(30);
    expect(calls).toEqual([]);
  });

  test('is kept when all bytes may have left, whatever the service says of it', async () => {
    const { store, calls, run } = open({ ...left, sha256: 'aa' });
    await run(30);
    expect(calls.every((call) => call === 'status vid_1, poll')).toBe(true);
    expect(calls.length).toBeLessThan(5);
    expect(store.row().videoId).toBe('vid_1');
  });

  test.each(['pending', 'processing', 'ready'])(
    'is not deleted when it was to be replaced, all bytes may have left, and the local file is gone (the service says %s)',
    async (word) => {
      // Its address was dead, the DELETE failed until the file was given up, and then the file changed.
      const { store, host, calls, run } = open({ ...left, sha256: 'aa', dying: true });
      host.status = async () => ({ ok: true, value: word });
      await run(30);
      expect(calls).toEqual([]);
      expect(store.row()).toMatchObject({ videoId: 'vid_1', dying: false });
    },
  );

  test.each(['processing', 'ready', 'failed'])(
    'that turns out to be %s is no empty record, and is kept',
    async (word) => {
      const { store, host, calls, run } = open(left);
      host.status = async () => ({ ok: true, value: word });
      await run(30);
      expect(calls).toEqual([]);
      expect(store.row()).toMatchObject({ videoId: 'vid_1', remoteStatus: word, dying: false });
      expect(await store.rows({ group: 'abandoned', ends: ['superseded'], limit: 9 })).toEqual([]);
    },
  );

  test.each(['processing', 'ready', 'failed'])(
    'that was to be replaced is not deleted when the service has its bytes after all, of which a restored ledger knows nothing (%s)',
    async (word) => {
      const { store, host, calls, run } = open({ ...left, uploadStartedAt: 1, dying: true });
      host.status = async () => ({ ok: true, value: word });
      await run(30);
      expect(calls).toEqual([]);
      expect(store.row()).toMatchObject({ videoId: 'vid_1', remoteStatus: word, dying: false });
    },
  );

  test('that was to be replaced is checked once more when an upload to it had begun, and is deleted while it is empty', async () => {
    const { store, calls, run } = open({ ...left, uploadStartedAt: 1, dying: true });
    await run();
    expect(calls).toEqual(['status vid_1, poll', 'remove vid_1, poll, dying on disk', 'status vid_1, poll']);
    expect(store.row().videoId).toBeNull();
  });

  test('is polled for a day when all bytes may have left, then needs a person, also after a restart', async () => {
    const { store, calls, run, restart } = open({ ...left, end: 'skipped', endedAt: 1_000_000, sha256: 'aa' });
    await run(24 * 60);
    expect(calls.length).toBeGreaterThan(100);
    calls.length = 0;
    await run(60);
    restart();
    await run(60);
    expect(calls).toEqual([]);
    expect(await store.rows({ group: 'abandoned', ends: ['skipped'], limit: 9 })).toHaveLength(1);
  });

  test('gets its turn behind any number of those that are for a person', async () => {
    const forPerson = Array.from({ length: 50 }, (_, n) => ({ ...left, videoId: `vid_p${n}`, sha256: 'aa' }));
    const { store, clock, run } = open(...forPerson, { ...left, videoId: 'vid_last' });
    clock.advance(2 * 86_400_000);
    await run();
    expect(store.row('f_51').videoId).toBeNull();
  });

  test('of an ignored file that is still there is not said to be missing', async () => {
    const { store, run } = open({ ...left, end: 'skipped', sha256: 'aa', dying: true });
    await run();
    expect(store.history.map(({ note }) => note)).toEqual(['video vid_1 is kept: it may have the whole file']);
  });

  test('that is gone already is forgotten', async () => {
    const { store, host, run } = open(left);
    host.status = async () => gone;
    await run();
    expect(store.row().videoId).toBeNull();
  });

  test.each([
    ['the service cannot say what it is', { status: inDoubt }],
    ['the service does not know its word', { status: { ok: true, value: 'draft' } as const }],
  ])('stays while %s', async (_name, { status }) => {
    const { store, host, calls, run } = open(left);
    host.status = async () => status;
    await run(30);
    expect(calls).toEqual([]);
    expect(store.row()).toMatchObject({ videoId: 'vid_1', dying: false });
  });

  test('whose deletion got no answer is deleted again after a restart, without another question', async () => {
    const { store, host, calls, run, restart } = open(left);
    const { remove } = host;
    host.remove = async () => inDoubt;
    await run();
    expect(store.row()).toMatchObject({ videoId: 'vid_1', dying: true });
    host.remove = remove;
    calls.length = 0;
    restart();
    await run();
    expect(calls).toEqual(['remove vid_1, poll, dying on disk', 'status vid_1, poll']);
    expect(store.row().videoId).toBeNull();
  });

  test('is one of a hundred a day at most; a restart begins no new day', async () => {
    const many = Array.from({ length: 120 }, (_, n) => ({ ...left, videoId: `vid_${n}` }));
    const { store, logger, run, restart } = open(...many);
    await run(20);
    restart();
    await run(20);
    const remaining = (): number => store.all.filter(({ videoId }) => videoId !== null).length;
    expect(remaining()).toBe(20);
    // Said once, not once for each record.
    expect(logger.lines.map(({ message }) => message)).toEqual([expect.stringContaining('dropcast suspects')]);
    await run(24 * 60);
    expect(remaining()).toBe(0);
  });

  test('waits while a worker has its file', async () => {
    const { calls, rows, run } = open(left);
    await rows.claim('f_1', () => run());
    expect(calls).toEqual([]);
  });
});

test('a retry of an ignored file finds its record marked for deletion, and begins with a new one', async () => {
  const ignored = {
    ...created,
    end: 'skipped',
    endedAt: 1,
    lastFailure: ignoredBy('anna', { end: null, lastFailure: null }),
  } as const;
  const { store, host, run } = open(ignored);
  host.remove = async () => inDoubt;
  await run();
  expect(store.row()).toMatchObject({ end: 'skipped', dying: true });
  const after = decide(
    'skipped',
    { facts: store.row(), policy: { attempts: 3, retryAt: () => 1, now: () => 1 } },
    { type: 'RETRY' },
  );
  expect(after).toMatchObject({ state: 'queued', facts: { dying: true, videoId: 'vid_1' } });
});
