import { describe, expect, test } from 'vitest';
import { createPutAway } from '../../../src/pipeline/rounds/put-away.ts';
import type { PutAwayWorld } from '../../../src/pipeline/rounds/put-away.ts';
import { folderAway } from '../../../src/pipeline/pause.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { mustAskFirst } from '../../../src/pipeline/file/failure.ts';
import type { Failure } from '../../../src/pipeline/file/failure.ts';
import { rowsOf } from '../held-rows.ts';
import { MemoryStore } from '../memory-store.ts';
import { recordingLogger } from '../silent-logger.ts';
import { failure, ready, someFacts, someVersion } from '../some-facts.ts';
import { TestClock } from '../test-clock.ts';

const finished = someFacts({
  ...ready,
  sha256: 'aa',
  published: { feed_news: 1 },
  end: 'done',
  disposal: 'pending',
  afterReady: { kind: 'delete' },
});

function open(rows: readonly Facts[]) {
  const clock = new TestClock();
  const store = new MemoryStore(rows);
  const disposed: string[] = [];
  const logger = recordingLogger();
  const stopping = new AbortController();
  /** What keeps a file where it is, or null. */
  const disk: { refuses: (facts: Facts) => Failure | null; looks: number } = { refuses: () => null, looks: 0 };
  const local: { -readonly [K in keyof PutAwayWorld['local']]: PutAwayWorld['local'][K] } = {
    dispose: async (facts, _signal, isHosted) => {
      disk.looks += 1;
      const refusal = disk.refuses(facts) ?? (isHosted ? null : mustAskFirst);
      if (refusal !== null) return { ok: false, failure: refusal };
      disposed.push(facts.id);
      return { ok: true, value: null };
    },
  };
  const service = { isHosted: true };
  const retry = () => ({ attempts: 3, firstMs: 1_000, maxMs: 1_000 });
  const start = () =>
    createPutAway({ store, rows: rowsOf(store), clock, local, logger, retry, isHosted: () => service.isHosted });
  let putAway = start();
  return {
    clock,
    store,
    disk,
    local,
    logger,
    disposed,
    service,
    stopping,
    run: () => putAway.run(stopping.signal),
    again: (id: string) => putAway.again(id),
    isUpToDate: () => putAway.isUpToDate(),
    restart: () => (putAway = start()),
    disposals: () => store.all.map(({ disposal }) => disposal),
  };
}

const longestBackoffMs = 300_000;
const refused = failure('transient', { code: 'EACCES' });

describe('a finished file', () => {
  test('is deleted when its bytes are the ones that were sent', async () => {
    const { run, store, disposed } = open([finished]);
    expect(await run()).toBe(1);
    expect(disposed).toEqual(['f_1']);
    expect(store.row().disposal).toBe('deleted');
    expect(await run()).toBe(0);
  });

  test('is checked again before it is deleted later, when the answer is old', async () => {
    const { run, store, disk, service, disposed, clock } = open([finished]);
    disk.refuses = () => refused;
    await run();
    expect(store.row().disposal).toBe('waiting');
    service.isHosted = false;
    disk.refuses = () => null;
    clock.advance(longestBackoffMs);
    await run();
    expect([store.row().disposal, disposed]).toEqual(['later', []]);
  });

  test('is known at its new place when it was moved', async () => {
    const { run, store, local } = open([finished]);
    const value = { path: 'done/clip.mp4', version: { ...someVersion, ctimeNs: '9' } };
    local.dispose = async () => ({ ok: true, value });
    await run();
    expect(store.row()).toMatchObject({ disposal: 'moved', path: 'done/clip.mp4', version: { ctimeNs: '9' } });
  });

  test('that was already removed counts as put away', async () => {
    const { run, disk, disposals, disposed } = open([finished]);
    disk.refuses = () => failure('vanished');
    await run();
    expect([disposals(), disposed]).toEqual([['deleted'], []]);
  });

  test.each<[string, Failure]>([
    ['that changed', failure('changed')],
    ['for an action that this version does not know', failure('permanent')],
  ])('%s is kept at once', async (_, why) => {
    const { run, disk, store } = open([finished]);
    disk.refuses = () => why;
    expect(await run()).toBe(1);
    expect(store.row()).toMatchObject({ disposal: 'refused', why: `kept: ${why.message}`, lastFailure: why });
  });

  test('whose hash is not known is kept', async () => {
    const { run, store, disk } = open([{ ...finished, sha256: null }]);
    await run();
    expect(store.row()).toMatchObject({ disposal: 'refused', why: 'kept: it is not known which bytes were sent' });
    expect(disk.looks).toBe(0);
  });

  test('that had to be given back under another name is known there', async () => {
    const { run, store, local } = open([finished]);
    const file = { path: 'clip (2).mp4', version: { ...someVersion, ctimeNs: '9' } };
    local.dispose = async () => ({ ok: false, failure: refused, file });
    await run();
    expect(store.row()).toMatchObject({ ...file, disposal: 'waiting', why: refused.message });
  });

  test('is left alone when the daemon stops while it is read', async () => {
    const { run, local, disposals, stopping } = open([finished]);
    local.dispose = async () => {
      stopping.abort();
      return { ok: false, failure: failure('throttled', { code: 'aborted' }) };
    };
    await run();
    expect(disposals()).toEqual(['pending']);
  });

  // Counted as dealt with, it would wake the loop again and again for as long as it is held.
  test('that another worker holds is not counted, and left alone', async () => {
    const { run, store, disposed } = open([finished]);
    store.claimed.add('f_1');
    expect([await run(), disposed]).toEqual([0, []]);
    store.claimed.clear();
    expect([await run(), disposed]).toEqual([1, ['f_1']]);
  });
});

describe('a file that cannot be deleted or moved', () => {
  test.each<[string, Failure]>([
    ['the directory may not be written to', refused],
    ['the disk takes no writes', failure('suspended', { code: 'EROFS' })],
    ['its folder is missing', failure('suspended', { code: folderAway })],
    ['every name is taken', failure('transient', { code: 'no_free_name' })],
    ['our own code broke', failure('bug')],
  ])('because %s waits for however long that lasts, says why, and resumes automatically', async (_, why) => {
    const { run, disk, store, clock, disposed } = open([finished]);
    disk.refuses = () => why;
    for (let n = 0; n < 50; n += 1) {
      expect([await run(), await run()]).toEqual([0, 0]);
      expect(store.row()).toMatchObject({ disposal: 'waiting', why: why.message, lastFailure: why });
      clock.advance(longestBackoffMs);
    }
    expect(disk.looks).toBe(50);
    disk.refuses = () => null;
    await run();
    expect(disposed).toEqual(['f_1']);
    expect(store.row()).toMatchObject({ disposal: 'deleted', why: null, lastFailure: null });
  });

  test('is tried at once after a restart', async () => {
    const { run, disk, disposed, restart } = open([finished]);
    disk.refuses = () => refused;
    await run();
    disk.refuses = () => null;
    expect([await run(), disposed]).toEqual([0, []]);
    restart();
    expect([await run(), disposed]).toEqual([1, ['f_1']]);
  });

  // `once` must not report a refusal of yesterday that nobody tried again.
  test('keeps the round behind until it was tried after a restart, and whenever it is due', async () => {
    const { run, disk, clock, isUpToDate, restart } = open([finished]);
    disk.refuses = () => refused;
    expect([isUpToDate(), await run(), isUpToDate()]).toEqual([false, 0, true]);
    clock.advance(longestBackoffMs);
    expect([isUpToDate(), await run(), isUpToDate()]).toEqual([false, 0, true]);
    restart();
    expect([isUpToDate(), await run(), isUpToDate()]).toEqual([false, 0, true]);
  });

  test('has one line in its history and one in the log, however often it is tried and however many files wait', async () => {
    const rows = [finished, { ...finished, id: 'f_2' }, { ...finished, id: 'f_3', folder: '/other' }];
    const { run, disk, store, clock, logger, restart } = open(rows);
    disk.refuses = () => refused;
    for (let n = 0; n < 20; n += 1) {
      await run();
      clock.advance(longestBackoffMs);
    }
    const line = { level: 'warn', fields: { code: 'EACCES', why: 'it was transient' } };
    expect(logger.lines).toMatchObject([line, { ...line, fields: { folder: '/other' } }]);
    expect(store.history.filter(({ note }) => note !== undefined)).toHaveLength(3);
    restart();
    await run();
    expect(logger.lines).toHaveLength(2);
  });

  test('continues as soon as another that waited for the same did', async () => {
    const rows = [finished, { ...finished, id: 'f_2' }];
    const { run, again, disk, disposals } = open(rows);
    disk.refuses = () => refused;
    await run();
    disk.refuses = () => null;
    expect(await run()).toBe(0);
    await again('f_1');
    await run();
    expect(disposals()).toEqual(['deleted', 'waiting']);
    await run();
    expect(disposals()).toEqual(['deleted', 'deleted']);
  });

  test.each([refused, failure('changed')])('is tried at once when a person asks for it: %j', async (why) => {
    const { run, again, disk, store, disposed } = open([finished]);
    expect(await again('f_1')).toBe(false);
    disk.refuses = () => why;
    await run();
    disk.refuses = () => null;
    expect([await run(), disposed]).toEqual([0, []]);
    expect(await again('f_1')).toBe(true);
    expect(store.row()).toMatchObject({ disposal: 'pending', why: null, lastFailure: null });
    expect([await run(), disposed]).toEqual([1, ['f_1']]);
    expect(await again('f_1')).toBe(false);
  });

  test.each(['superseded', 'held'] as const)('is left alone once its row is %s', async (end) => {
    const { run, again, clock, disk, store, disposed } = open([finished]);
    disk.refuses = () => refused;
    await run();
    disk.refuses = () => null;
    const now = { ...store.row(), end, why: 'because' };
    store.all.splice(0, 1, now);
    clock.advance(longestBackoffMs);
    expect([await again('f_1'), await run(), disposed]).toEqual([false, 0, []]);
    expect(store.row()).toMatchObject({ end, why: 'because' });
  });

  test('does not keep others waiting while it waits', async () => {
    const rows = Array.from({ length: 100 }, (_, n) => ({
      ...finished,
      id: `f_${n}`,
      folder: n < 90 ? '/away' : '/here',
    }));
    const { run, disk, disposed } = open(rows);
    disk.refuses = ({ folder }) => (folder === '/away' ? refused : null);
    for (let n = 0; n < 13; n += 1) await run();
    expect(disposed).toHaveLength(10);
    expect(disk.looks).toBe(100);
  });
});
