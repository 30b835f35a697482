import { describe, expect, test } from 'vitest';
import { createRecord } from '../../../src/pipeline/steps/create.ts';
import type { CreateWorld } from '../../../src/pipeline/steps/create.ts';
import { LedgerUnavailableError } from '../../../src/pipeline/file/store-errors.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { outcomeOf } from '../held-rows.ts';
import { MemoryStore } from '../memory-store.ts';
import { created, failure, someFacts, someVersion, uploaded } from '../some-facts.ts';
import { TestClock } from '../test-clock.ts';
import { noQuota } from '../no-quota.ts';
import { noSizeLimits } from '../no-size-limits.ts';

const live = new AbortController().signal;
const inDoubt = failure('transient', { inDoubt: true });
const dying = { ...created, dying: true, addressDeadAt: 1 };

/** A create step of this row, to a service that takes it. */
function open(other: Partial<Facts> = {}) {
  const store = new MemoryStore([someFacts(other)]);
  const calls: string[] = [];
  const unconfirmed = { may: true };
  const note = (call: string): void => {
    calls.push(call);
  };
  const world: CreateWorld = {
    passing: new Set(),
    binding: new Set(),
    store,
    clock: new TestClock(),
    host: {
      create: async (_facts, token) => {
        note(`create ${token}, with ${store.row().intent} on disk`);
        return { ok: true, value: { videoId: 'vid_2', uploadUrl: 'u:vid_2', status: 'pending' } };
      },
      remove: async (videoId) => {
        note(`remove ${videoId}`);
        return { ok: true, value: null };
      },
      status: async (videoId) => {
        note(`status ${videoId}`);
        return { ok: false, failure: failure('gone') };
      },
      send: () => Promise.reject(new Error('a create sends no file')),
      amend: () => Promise.reject(new Error('a create amends nothing')),
    },
    local: {
      check: async () => null,
      hash: async () => ({ ok: true, value: 'aa' }),
      checksums: async () => ({ ok: true, value: [] }),
      dispose: () => Promise.reject(new Error('a create disposes of nothing')),
    },
    budget: { take: async (lane) => (note(`budget ${lane}`), true) },
    receipts: { append: async (step, facts) => note(`receipt: ${step} ${facts.videoId}, row ${store.row().videoId}`) },
    newToken: () => 'token',
    sizeLimits: noSizeLimits,
    quota: noQuota,
    unconfirmed: { mayRisk: async () => unconfirmed.may, waitUntil: () => (unconfirmed.may ? null : 1_500_000) },
  };
  const run = () => outcomeOf(store, (row) => createRecord(row, live, world));
  return { run, store, world, calls, unconfirmed };
}

test('headers that the upload address needs are in the row and in the receipt before a byte is sent; a new record has its own', async () => {
  const { run, store, world } = open();
  const uploadHeaders = { 'x-upload-signature': 's' };
  const receipts: object[] = [];
  const create = async () => ({
    ok: true as const,
    value: { videoId: 'vid_2', uploadUrl: 'u:vid_2', uploadHeaders, status: 'pending' },
  });
  const append = async (step: string, facts: Facts) => void receipts.push([step, facts.uploadHeaders]);
  Object.assign(world, { host: { ...world.host, create }, receipts: { append } });
  await run();
  expect(store.row().uploadHeaders).toEqual(uploadHeaders);
  expect(receipts).toEqual([['bound', uploadHeaders]]);
  const next = open({ ...created, uploadHeaders, dying: true });
  await next.run();
  expect(next.store.row()).toMatchObject({ videoId: 'vid_2', uploadHeaders: null });
});

describe('an id that another file has', () => {
  test.each([
    ['while that file is processed', uploaded],
    ['after its video was deleted', { ...uploaded, end: 'held' as const }],
    ['of a file that is done', { ...uploaded, readyAt: 4, end: 'done' as const }],
  ])('holds the second file before a byte is sent, and leaves the first alone: %s', async (_name, first) => {
    const { run, store } = open();
    const other = someFacts({ ...first, id: 'f_0', videoId: 'vid_2', version: { ...someVersion, size: 1 } });
    await store.insert(other);
    expect(await run()).toMatchObject({ type: 'needs a person', failure: { code: 'video_id_taken' } });
    expect(store.row()).toMatchObject({ videoId: null, uploadUrl: null, suspects: ['token'] });
    expect(store.row('f_0')).toEqual(other);
  });

  test('is noticed also when both are given at the same moment', async () => {
    const { run, store, world } = open();
    world.binding.add('vid_2');
    expect(await run()).toMatchObject({ type: 'needs a person', failure: { code: 'video_id_taken' } });
    expect(store.row().videoId).toBeNull();
  });
});

describe('a create request', () => {
  test('is paid for, then announced on disk, then sent once; its answer is in the receipts before the row', async () => {
    const { run, store, calls } = open();
    expect(await run()).toEqual({ type: 'bound', failure: null });
    expect(calls).toEqual(['budget create', 'create token, with token on disk', 'receipt: bound vid_2, row null']);
    expect(store.row()).toMatchObject({ videoId: 'vid_2', uploadUrl: 'u:vid_2', intent: null, createdAt: 1_000_000 });
  });

  test('whose answer fits into the ledger and not into the receipts is still bound: no second record is created', async () => {
    const { run, world, store } = open();
    world.receipts.append = () => Promise.reject(new LedgerUnavailableError('disk full'));
    await expect(run()).rejects.toThrow(LedgerUnavailableError);
    expect(store.row()).toMatchObject({ videoId: 'vid_2', uploadUrl: 'u:vid_2', intent: null, suspects: [] });
  });

  test('whose predecessor has no answer makes that a suspect', async () => {
    const { run, store } = open({ intent: 'lost', suspects: ['older'] });
    await run();
    expect(store.row()).toMatchObject({ intent: null, suspects: ['older', 'lost'] });
  });

  test('that is refused was for nothing', async () => {
    const { run, world, store } = open();
    world.host.create = async () => ({ ok: false, failure: failure('permanent', { status: 422 }) });
    expect((await run()).failure).toMatchObject({ kind: 'permanent', status: 422 });
    expect([store.row().intent, store.row().suspects]).toEqual([null, []]);
  });

  test('in doubt leaves a suspect', async () => {
    const { run, world, store } = open();
    world.host.create = async () => ({ ok: false, failure: inDoubt });
    await run();
    expect([store.row().intent, store.row().suspects]).toEqual([null, ['token']]);
  });

  test('that gives no upload address leaves nothing: its record is deleted before another is created', async () => {
    const { run, world, store, calls } = open();
    const { create } = world.host;
    world.host.create = async () => ({ ok: true, value: { videoId: 'vid_1', uploadUrl: null, status: 'pending' } });
    expect((await run()).failure?.code).toBe('no_upload_url');
    expect(store.row()).toMatchObject({ videoId: 'vid_1', intent: null, suspects: [], dying: true });
    world.host.create = create;
    expect((await run()).type).toBe('bound');
    expect(calls.slice(0, 4)).toEqual(['budget create', 'remove vid_1', 'status vid_1', 'budget create']);
    expect(store.row()).toMatchObject({ videoId: 'vid_2', suspects: [], dying: false });
  });

  test('is not made while too many are in doubt, and costs no budget', async () => {
    const { run, calls, unconfirmed } = open();
    unconfirmed.may = false;
    expect((await run()).failure).toMatchObject({ kind: 'throttled', code: 'creates_in_doubt', retryAfterMs: 500_000 });
    expect(calls).toEqual([]);
  });

  test('is not made for a file that went missing while it waited for the budget', async () => {
    const { run, world, calls } = open();
    world.budget.take = async () => {
      world.local.check = async () => failure('vanished');
      return true;
    };
    expect((await run()).failure).toEqual(failure('vanished'));
    expect(calls).toEqual([]);
  });

  test('is not made when the daemon stops while it waits', async () => {
    const { run, world, store } = open();
    world.budget.take = async () => false;
    expect((await run()).failure?.code).toBe('aborted');
    expect(store.row().intent).toBeNull();
  });
});

describe('an import', () => {
  const sourceUrl = 'https://example.com/clip.mp4';

  test('has no upload: the service fetches it', async () => {
    const { run, world, store } = open({ sourceUrl });
    world.host.create = async () => ({ ok: true, value: { videoId: 'vid_2', uploadUrl: null, status: 'pending' } });
    expect((await run()).type).toBe('imported');
    expect(store.row()).toMatchObject({ videoId: 'vid_2', uploadedAt: 1_000_000, processingSince: 1_000_000 });
  });

  test('in doubt is for a person: a second one would be a second video', async () => {
    const { run, world, store } = open({ sourceUrl });
    world.host.create = async () => ({ ok: false, failure: inDoubt });
    await run();
    expect(store.row().intent).toBe('token');
    expect((await run()).failure?.kind).toBe('unclear');
  });
});

describe('a video that is being replaced', () => {
  test('is deleted until it is gone, and only then replaced', async () => {
    const { run, calls, store } = open(dying);
    await run();
    expect(calls.slice(0, 3)).toEqual(['remove vid_1', 'status vid_1', 'budget create']);
    expect(store.row()).toMatchObject({ videoId: 'vid_2', dying: false, addressDeadAt: null });
  });

  test('gets no other record if it is gone and an operator said that all files of the folder were uploaded', async () => {
    const { run, calls, store } = open(dying);
    const adopted = { askedNs: 2_000_000n, beganNs: 2_000_000n, isOver: true, isAdopted: true } as const;
    await store.saveFirstStart(store.row().folder, adopted);
    expect(await run()).toMatchObject({ type: 'needs a person', failure: { kind: 'gone' } });
    expect(calls).toEqual(['status vid_1']);
  });

  test.each([
    ['the deletion got no answer', { ok: false, failure: inDoubt } as const, undefined],
    ['it is still there', { ok: true, value: null } as const, { ok: true, value: 'pending' } as const],
    ['the service cannot say', { ok: true, value: null } as const, { ok: false, failure: inDoubt } as const],
  ])('stays so while %s', async (_name, removed, status) => {
    const { run, world, store } = open(dying);
    world.host.remove = async () => removed;
    if (status !== undefined) world.host.status = async () => status;
    expect((await run()).failure?.kind).toBe('transient');
    expect(store.row()).toMatchObject({ dying: true, videoId: 'vid_1' });
  });

  test('is kept when the local file is missing: it may be the only copy', async () => {
    const { run, world, store, calls } = open({ ...dying, sha256: 'aa' });
    world.local.check = async () => failure('vanished');
    expect(await run()).toEqual({ type: 'kept', failure: null });
    expect(store.row()).toMatchObject({ dying: false, videoId: 'vid_1', addressDeadAt: 1 });
    expect(calls).toEqual([]);
  });

  test('stays as it is while the folder is missing', async () => {
    const { run, world, calls } = open(dying);
    world.local.check = async () => failure('suspended');
    expect((await run()).failure?.kind).toBe('suspended');
    expect(calls).toEqual([]);
  });

  test('is kept when the service has its bytes, of which a ledger that was restored from a copy knows nothing', async () => {
    for (const said of ['processing', 'ready']) {
      const { run, world, store, calls } = open({ ...created, uploadStartedAt: 1, dying: true });
      world.host.status = async () => ({ ok: true, value: said });
      expect(await run()).toEqual({ type: 'kept', failure: null });
      expect(store.row()).toMatchObject({ dying: false, videoId: 'vid_1', uploadStartedAt: 1 });
      expect(calls).toEqual([]);
    }
  });

  test('is kept when the service has its bytes, although the upload address died after a ledger was restored from a copy', async () => {
    const { run, world, store, calls } = open({ ...dying, uploadStartedAt: 1 });
    world.host.status = async () => ({ ok: true, value: 'processing' });
    expect(await run()).toEqual({ type: 'kept', failure: null });
    expect(store.row()).toMatchObject({ dying: false, videoId: 'vid_1' });
    expect(calls).toEqual([]);
  });

  test('is deleted once the service calls it empty, or no longer knows it, or failed to process it', async () => {
    for (const said of ['pending', 'failed', null]) {
      const { run, world, store, calls } = open({ ...created, uploadStartedAt: 1, dying: true });
      const gone = world.host.status;
      world.host.status = async (...args) =>
        said === null || calls.includes('remove vid_1') ? gone(...args) : { ok: true, value: said };
      await run();
      expect(calls).toContain('remove vid_1');
      expect(store.row()).toMatchObject({ dying: false, videoId: 'vid_2' });
    }
  });

  test('stays as it is while the service does not say whether it is empty', async () => {
    const { run, world, store, calls } = open({ ...created, uploadStartedAt: 1, dying: true });
    world.host.status = async () => ({ ok: false, failure: failure('offline') });
    expect((await run()).failure?.kind).toBe('offline');
    expect(store.row()).toMatchObject({ dying: true, videoId: 'vid_1' });
    expect(calls).toEqual([]);
  });

  test('without an id is simply dropped', async () => {
    const { run, store, calls } = open({ dying: true });
    await run();
    expect(store.row()).toMatchObject({ dying: false, videoId: 'vid_2' });
    expect(calls).not.toContain('remove vid_1');
  });
});
