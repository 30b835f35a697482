import { describe, expect, test } from 'vitest';
import { createAftercare } from '../../../src/pipeline/rounds/aftercare.ts';
import type { AftercareWorld } from '../../../src/pipeline/rounds/aftercare.ts';
import { folderAway } from '../../../src/pipeline/pause.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
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
  const amended: object[] = [];
  const busy = new Set<string>();
  const logger = recordingLogger();
  const local: { -readonly [K in keyof AftercareWorld['local']]: AftercareWorld['local'][K] } = {
    check: async () => null,
    hash: async () => ({ ok: true, value: 'aa' }),
    checkDisposal: async () => null,
    dispose: async ({ id }) => {
      disposed.push(id);
      return { ok: true, value: null };
    },
  };
  const host: Pick<AftercareWorld['host'], 'amend'> = {
    amend: async (_id, amendment) => {
      amended.push(amendment);
      return { ok: true, value: null };
    },
  };
  const aftercare = createAftercare({
    store,
    clock,
    local,
    host: { ...notUsed, amend: (...asked) => host.amend(...asked) },
    logger,
    runner: { claim: async (id, work) => (busy.has(id) ? null : work()), isLive: (id) => busy.has(id) },
    retry: () => ({ attempts: 3, firstMs: 1_000, maxMs: 1_000 }),
  });
  const { dispose, amend } = aftercare;
  const world = { clock, store, local, host, logger, disposed, amended, busy };
  return { ...world, dispose: () => dispose(live), amend: () => amend(live) };
}

const no = (): never => {
  throw new Error('aftercare does not ask for it');
};
const notUsed = { create: no, status: no, send: no, remove: no };

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

  test('that is already away is taken for put away: a crash came between the deed and the note', async () => {
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
  test('waits for as long as its folder is away, without a busy loop', async () => {
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

  test('waits for as long as the disk takes no writes, which is said once for all files', async () => {
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
    const { dispose } = createAftercare({
      store,
      clock: new TestClock(),
      local,
      host: { ...notUsed, amend: no },
      logger: silentLogger,
      runner: { claim: async (_id, work) => work(), isLive: () => false },
      retry: () => ({ attempts: 1, firstMs: 1, maxMs: 1 }),
    });
    await dispose(stopping.signal);
    expect(store.row().disposal).toBe('pending');
  });
});

describe('late metadata', () => {
  const changed = someFacts({ ...ready, amendment: { title: 'Late' } });

  test('is sent once', async () => {
    const { amend, amended, store } = open([changed]);
    await amend();
    await amend();
    expect(amended).toEqual([{ title: 'Late' }]);
    expect(store.row().amendment).toBeNull();
  });

  // Its finished file may be read for minutes before it is put away; each sending is a request.
  test('waits while the file is worked on, and is then sent once', async () => {
    const { amend, amended, store, busy } = open([changed]);
    busy.add('f_1');
    for (let n = 0; n < 3; n += 1) await amend();
    expect(amended).toEqual([]);
    busy.clear();
    await amend();
    await amend();
    expect([amended, store.row().amendment]).toEqual([[{ title: 'Late' }], null]);
  });

  test('that changes again during the request is sent again', async () => {
    const { amend, host, store } = open([changed]);
    host.amend = async () => {
      await store.save({ ...store.row(), amendment: { title: 'Later' } });
      return { ok: true, value: null };
    };
    await amend();
    expect(store.row().amendment).toEqual({ title: 'Later' });
  });

  test('that the service refuses is dropped', async () => {
    const { amend, host, store } = open([changed]);
    host.amend = async () => ({ ok: false, failure: failure('permanent') });
    await amend();
    expect(store.row().amendment).toBeNull();
    expect(store.history.at(-1)?.note).toBe('metadata not taken: it was permanent');
  });

  test('waits between attempts: each costs a request', async () => {
    const { amend, host, clock, store } = open([changed]);
    let asked = 0;
    host.amend = async () => {
      asked += 1;
      return { ok: false, failure: failure('transient', { status: 500, retryAfterMs: 60_000 }) };
    };
    for (let second = 0; second < 30; second += 1) {
      await amend();
      clock.advance(1_000);
    }
    expect(asked).toBe(1);
    clock.advance(120_000);
    await amend();
    clock.advance(60_000);
    await amend();
    expect([asked, store.row().amendment]).toEqual([3, null]);
  });

  test('of one video that is refused does not hold up the others', async () => {
    const rows = Array.from({ length: 12 }, (_, n) => ({ ...changed, id: `f_${n}`, videoId: `vid_${n}` }));
    const { amend, host, store } = open(rows);
    host.amend = async (id) =>
      Number(id.slice(4)) < 10 ? { ok: false, failure: failure('transient') } : { ok: true, value: null };
    await amend();
    await amend();
    expect(store.rows.filter(({ amendment }) => amendment === null)).toHaveLength(2);
  });
});
