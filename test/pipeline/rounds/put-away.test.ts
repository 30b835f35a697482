import { describe, expect, test } from 'vitest';
import { createPutAway } from '../../../src/pipeline/rounds/put-away.ts';
import type { PutAwayWorld } from '../../../src/pipeline/rounds/put-away.ts';
import { folderAway } from '../../../src/pipeline/pause.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { rowsOf } from '../held-rows.ts';
import { MemoryStore } from '../memory-store.ts';
import { recordingLogger, silentLogger } from '../silent-logger.ts';
import { failure, ready, someFacts, someVersion } from '../some-facts.ts';
import { TestClock } from '../test-clock.ts';

const live = new AbortController().signal;
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
  const local: { -readonly [K in keyof PutAwayWorld['local']]: PutAwayWorld['local'][K] } = {
    check: async () => null,
    hash: async () => ({ ok: true, value: 'aa' }),
    checkDisposal: async () => null,
    dispose: async ({ id }) => {
      disposed.push(id);
      return { ok: true, value: null };
    },
  };
  const retry = () => ({ attempts: 3, firstMs: 1_000, maxMs: 1_000 });
  const putAway = createPutAway({ store, rows: rowsOf(store), clock, local, logger, retry });
  return { clock, store, local, logger, disposed, dispose: () => putAway.run(live) };
}

describe('a finished file', () => {
  test('is deleted when its bytes are the ones that were sent', async () => {
    const { dispose, store, disposed } = open([finished]);
    expect(await dispose()).toBe(1);
    expect(disposed).toEqual(['f_1']);
    expect(store.row().disposal).toBe('deleted');
    expect(await dispose()).toBe(0);
  });

  test('is known at its new place when it was moved', async () => {
    const { dispose, store, local } = open([finished]);
    local.dispose = async () => ({
      ok: true,
      value: { path: 'done/clip.mp4', version: { ...someVersion, ctimeNs: '9' } },
    });
    await dispose();
    expect(store.row()).toMatchObject({ disposal: 'moved', path: 'done/clip.mp4', version: { ctimeNs: '9' } });
  });

  test('that is already gone counts as put away: a crash came between the action and its record', async () => {
    const { dispose, store, local, disposed } = open([finished]);
    local.check = async () => failure('vanished');
    await dispose();
    expect([store.row().disposal, disposed]).toEqual(['deleted', []]);
  });

  test.each<[string, Partial<Facts>, string]>([
    ['whose content is another', { sha256: 'bb' }, 'kept: its content is not what was sent'],
    ['whose hash is not known', { sha256: null }, 'kept: it is not known which bytes were sent'],
  ])('%s is kept', async (_name, other, why) => {
    const { dispose, store, disposed } = open([{ ...finished, ...other }]);
    await dispose();
    expect(store.row()).toMatchObject({ disposal: 'refused', why });
    expect(disposed).toEqual([]);
  });

  test('that changed is kept at once', async () => {
    const { dispose, store, local } = open([finished]);
    local.check = async () => failure('changed');
    expect(await dispose()).toBe(1);
    expect(store.row()).toMatchObject({ disposal: 'refused', why: 'kept: it was changed' });
  });

  // An unmounted folder must neither count as deleted nor as refused.
  test('waits while its folder is missing, without a busy loop', async () => {
    const { dispose, store, local, clock, disposed } = open([finished]);
    let looks = 0;
    local.check = async () => {
      looks += 1;
      return failure('suspended', { code: folderAway });
    };
    for (let n = 0; n < 50; n += 1) {
      expect([await dispose(), await dispose()]).toEqual([0, 0]);
      clock.advance(300_000);
    }
    expect(looks).toBe(50);
    expect(store.row().disposal).toBe('pending');
    local.check = async () => null;
    await dispose();
    expect(disposed).toEqual(['f_1']);
  });

  // Each further look would read gigabytes.
  test('is not read again while nothing can be written where it lies', async () => {
    const { dispose, store, local, clock, disposed } = open([finished]);
    const { hash } = local;
    let readings = 0;
    local.hash = (...asked) => {
      readings += 1;
      return hash(...asked);
    };
    local.checkDisposal = async () => failure('suspended', { code: 'EROFS' });
    for (let n = 0; n < 20; n += 1) {
      expect(await dispose()).toBe(0);
      clock.advance(300_000);
    }
    expect([readings, store.row().disposal]).toEqual([0, 'pending']);
    local.checkDisposal = async () => null;
    await dispose();
    expect([readings, disposed]).toEqual([1, ['f_1']]);
  });

  test('waits while the disk takes no writes, and logs it once for all files', async () => {
    const rows = [finished, { ...finished, id: 'f_2' }];
    const { dispose, store, local, clock, logger, disposed } = open(rows);
    const { dispose: puttingAway } = local;
    local.dispose = async () => ({ ok: false, failure: failure('suspended', { code: 'EROFS' }) });
    for (let n = 0; n < 20; n += 1) {
      await dispose();
      clock.advance(300_000);
    }
    expect(store.rows.map(({ disposal }) => disposal)).toEqual(['pending', 'pending']);
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { code: 'EROFS', why: 'it was suspended' } }]);
    local.dispose = puttingAway;
    await dispose();
    expect(disposed).toEqual(['f_1', 'f_2']);
  });

  test('that cannot be deleted is kept after some attempts', async () => {
    const { dispose, store, local, clock } = open([finished]);
    local.dispose = async () => ({ ok: false, failure: failure('transient', { code: 'EACCES' }) });
    for (let n = 0; n < 3; n += 1) {
      await dispose();
      clock.advance(1_000);
    }
    expect(store.row()).toMatchObject({ disposal: 'refused', why: 'kept: it was transient' });
  });

  test('does not keep others waiting while it waits', async () => {
    const rows = Array.from({ length: 12 }, (_, n) => ({
      ...finished,
      id: `f_${n}`,
      folder: n < 10 ? '/away' : '/here',
    }));
    const { dispose, store, local } = open(rows);
    local.check = async ({ folder }) => (folder === '/away' ? failure('suspended', { code: folderAway }) : null);
    await dispose();
    await dispose();
    expect(store.rows.filter(({ disposal }) => disposal === 'deleted')).toHaveLength(2);
  });

  test('is left alone when the daemon stops while it is read', async () => {
    const { store, local } = open([finished]);
    const stopping = new AbortController();
    local.hash = async () => {
      stopping.abort();
      return { ok: false, failure: failure('throttled', { code: 'aborted' }) };
    };
    const putAway = createPutAway({
      store,
      rows: rowsOf(store),
      clock: new TestClock(),
      local,
      logger: silentLogger,
      retry: () => ({ attempts: 1, firstMs: 1, maxMs: 1 }),
    });
    await putAway.run(stopping.signal);
    expect(store.row().disposal).toBe('pending');
  });

  // Counted as dealt with, it would wake the loop again and again for as long as it is held.
  test('that somebody else holds is not counted, and left alone', async () => {
    const { dispose, store, disposed } = open([finished]);
    store.claimed.add('f_1');
    expect([await dispose(), disposed]).toEqual([0, []]);
    store.claimed.clear();
    expect([await dispose(), disposed]).toEqual([1, ['f_1']]);
  });
});
