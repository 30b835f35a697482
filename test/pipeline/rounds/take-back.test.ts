import { expect, test } from 'vitest';
import { stateOf } from '../../../src/pipeline/file/facts.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { Failure } from '../../../src/pipeline/file/failure.ts';
import type { Budget } from '../../../src/pipeline/file/ports.ts';
import { folderAway } from '../../../src/pipeline/pause.ts';
import { files, minute, outside, someLocal, startCore } from '../running-core.ts';
import { failure, ready, someFacts, somePlan } from '../some-facts.ts';
import { someRoom } from '../some-room.ts';

/** A finished upload. The disk of these tests gives each file its id as hash. */
function done(id: string, other: Partial<Facts> = {}): Facts {
  const path = `${id}.mp4`;
  const end = { end: 'done', endedAt: 5, published: { feed_news: 5 }, disposal: 'kept' } as const;
  return someFacts({ ...ready, ...end, id, path, videoId: `v_${id}`, sha256: id, ...other });
}

/** Finished uploads with their videos, and a pipeline that takes all of them back. */
async function begin(rows: readonly Facts[], local: Partial<typeof someLocal> = {}) {
  const world = outside(rows);
  for (const { videoId } of rows)
    if (videoId !== null) world.service.videos.set(videoId, { title: 'Clip', status: 'ready' });
  const appended: string[] = [];
  const receipts = { append: async (step: string, { id }: Facts) => void appended.push(`${step} ${id}`) };
  const budget: Budget = { take: async (_lane, signal) => !signal.aborted, room: () => someRoom() };
  const other = { local: { ...someLocal, ...local }, receipts, budget };
  const pairs = rows.map(({ id, videoId }) => [id, videoId ?? ''] as const);
  const restart = () => startCore(world, other);
  const core = restart();
  const start = () => core.conductor.takeBack.start(pairs, 'root');
  const isOver = async () => (await core.conductor.takeBack.progress())?.ended_at != null;
  return { ...core, world, budget, appended, pairs, restart, start, isOver };
}

const sorted = (videos: ReadonlyMap<string, unknown>): readonly string[] => [...videos.keys()].toSorted();

test('an upload is taken back: its video is deleted, its feed is published again, and its row says who did it', async () => {
  const core = await begin([done('a'), done('b')]);
  await core.start();
  await core.until(() => core.service.count('publish feed_news') > 0);
  expect(sorted(core.service.videos)).toEqual([]);
  expect(core.store.row('a')).toMatchObject({
    end: 'skipped',
    why: 'taken back by root: its video v_a was deleted; `dropcast retry` uploads the file again',
    videoId: null,
    uploadUrl: null,
    published: {},
    dying: false,
    sha256: 'a',
    disposal: null,
  });
  expect(core.appended).toEqual(['taken back a', 'taken back b']);
  expect(await core.conductor.takeBack.progress()).toMatchObject({ by: 'root', files: 2, taken: 2, left: 0, kept: [] });
  // Four for each video, and one for both in their feed.
  const each = ['get', 'remove', 'status', 'probe'];
  expect(core.service.asked.filter((name) => !['feeds', 'channels'].includes(name))).toEqual([
    ...each,
    ...each,
    'publish feed_news',
  ]);
});

test('each DELETE follows a fresh GET of its video, and an edited video stays', async () => {
  const core = await begin([done('a'), done('b')]);
  core.service.beforeLook = () => core.service.videos.set('v_b', { title: 'Corrected', status: 'ready' });
  await core.start();
  await core.until(core.isOver);
  expect(sorted(core.service.videos)).toEqual(['v_b']);
  expect(stateOf(core.store.row('b'))).toBe('done');
  expect(await core.conductor.takeBack.progress()).toMatchObject({
    taken: 1,
    kept: [{ id: 'b', path: '/inbox/b.mp4', why: 'edited on the service since: title' }],
  });
});

test('each request of a run is counted in the hourly limit, and the DELETE waits for no upload', async () => {
  const core = await begin([done('a'), done('b')]);
  const { host, library } = core.service;
  const lanes: string[] = [];
  const { get } = library;
  const { remove, status } = host;
  core.budget.take = async (lane) => (lanes.push(`take ${lane}`), true);
  Object.assign(library, { get: (...asked: Parameters<typeof get>) => (lanes.push(`get ${asked[2]}`), get(...asked)) });
  Object.assign(host, {
    remove: (...asked: Parameters<typeof remove>) => (lanes.push(`remove ${asked[2]}`), remove(...asked)),
    status: (...asked: Parameters<typeof status>) => (lanes.push(`status ${asked[2]}`), status(...asked)),
  });
  await core.start();
  await core.until(core.isOver);
  // The client lets a request of `create` pass, because the pipeline has counted it (`clientGateOf`).
  const each = ['take create', 'get create', 'remove finish', 'status finish'];
  expect(lanes).toEqual([...each, ...each]);
});

test('a file that changes while its request waits for the hourly limit is the only copy', async () => {
  let isChanged = false;
  const core = await begin([done('a'), done('b')], {
    check: async ({ id }) => (id === 'b' && isChanged ? failure('changed') : null),
  });
  core.service.beforeLook = () => (isChanged = true);
  await core.start();
  await core.until(core.isOver);
  expect(sorted(core.service.videos)).toEqual(['v_b']);
  expect(await core.conductor.takeBack.progress()).toMatchObject({
    kept: [{ id: 'b', why: expect.stringContaining('only copy') }],
  });
});

test('only what dropcast made and the disk still has is deleted', async () => {
  const rows = [
    done('adopted', { sha256: null }),
    done('imported', { sourceUrl: 'https://example.com/a.mp4' }),
    done('only', { disposal: 'deleted' }),
    done('gone'),
    done('changed'),
    done('shared', { videoId: 'v_twice' }),
    done('other', { videoId: 'v_twice' }),
    done('amended', { amendment: { title: 'New' } }),
    done('right'),
  ];
  const core = await begin(rows, {
    hash: async ({ id }) => {
      if (id === 'gone') return { ok: false, failure: failure('vanished') };
      return { ok: true, value: id === 'changed' ? 'another' : id };
    },
    check: async ({ id }) => (id === 'gone' || id === 'changed' ? failure('vanished') : null),
  });
  const { takeBack } = core.conductor;
  core.service.failing.set('amend', failure('transient'));
  const refused = await Promise.all(rows.map(async (facts) => [facts.id, await takeBack.whyNot(facts)] as const));
  expect(Object.fromEntries(refused)).toEqual({
    adopted: 'adopted: dropcast did not upload it',
    imported: 'imported: only the service has its content',
    only: expect.stringContaining('only copy'),
    gone: expect.stringContaining('only copy'),
    changed: expect.stringContaining('only copy'),
    shared: 'another file has the same video',
    other: 'another file has the same video',
    amended: 'its new metadata is not sent yet: wait until it is',
    right: null,
  });
  // Also if a list from another time names them.
  await core.start();
  await core.until(core.isOver);
  expect(sorted(core.service.videos)).toEqual(
    rows
      .flatMap(({ id, videoId }) => (id === 'right' ? [] : [videoId ?? '']))
      .filter((id, n, all) => all.indexOf(id) === n)
      .toSorted(),
  );
  expect(await takeBack.progress()).toMatchObject({ taken: 1, left: 0 });
  expect(core.store.all.filter(({ end }) => end === 'done')).toHaveLength(8);
});

test.each(['queued', 'creating', 'uploading', 'processing'])(
  'what is still on its way is refused: %s',
  async (state) => {
    const core = await begin([]);
    const row = { queued: {}, creating: { intent: 't' }, uploading: { videoId: 'v', uploadUrl: 'u' } }[state] ?? {
      ...ready,
      readyAt: null,
    };
    expect(await core.conductor.takeBack.whyNot(someFacts(row))).toMatch(/^not (sent|done) yet/);
  },
);

test('a video that a person deleted counts as taken back', async () => {
  const core = await begin([done('a')]);
  core.service.videos.clear();
  await core.start();
  await core.until(core.isOver);
  expect(core.store.row('a')).toMatchObject({ end: 'skipped', videoId: null });
  expect([core.service.count('remove'), (await core.conductor.takeBack.progress())?.taken]).toEqual([0, 1]);
});

test('nothing but a retry uploads the file again', async () => {
  const core = await begin([done('a')]);
  await core.start();
  await core.until(core.isOver);
  const after = core.restart();
  await after.pass(10 * minute);
  expect(core.service.count('create')).toBe(0);
  await core.conductor.apply('a', { type: 'RETRY' });
  await core.until(() => core.store.row('a').end === 'done');
  expect([sorted(core.service.videos).length, core.service.count('send')]).toEqual([1, 1]);
});

test('a retry waits until the video is gone', async () => {
  const core = await begin([done('a')]);
  core.service.failing.set('remove', failure('transient'));
  await core.start();
  await core.until(() => core.service.count('remove') > 0);
  await core.until(async () => (await core.conductor.apply('a', { type: 'RETRY' })) !== 'busy');
  expect(core.store.row('a')).toMatchObject({ end: 'skipped', dying: true, videoId: 'v_a' });
});

test('another file with the same content is no duplicate of a video that is gone', async () => {
  const twin = someFacts({
    id: 'twin',
    path: 'twin.mp4',
    end: 'skipped',
    endedAt: 6,
    why: 'duplicate',
    lastFailure: failure('duplicate', { twin: 'a' }),
  });
  const core = await begin([done('a'), twin].filter(({ end }) => end === 'done'));
  core.store.all.push(twin);
  await core.start();
  await core.until(() => core.store.row('twin').end === 'done');
  expect(core.store.row('a').end).toBe('skipped');
});

const answers: Readonly<Record<string, Failure>> = {
  '500': failure('transient', { status: 500, inDoubt: true }),
  '429': failure('throttled', { status: 429, retryAfterMs: 60_000 }),
  'a web page': failure('transient', { code: 'unreadable_answer', inDoubt: true }),
  nothing: failure('offline'),
};

test.each(Object.entries(answers))(
  'a DELETE answered with %s is repeated until the video is gone',
  async (_, refusal) => {
    const core = await begin([done('a'), done('b'), done('c')]);
    core.service.failing.set('remove', refusal);
    await core.start();
    await core.until(() => core.service.count('remove') > 3);
    expect(sorted(core.service.videos)).toEqual(['v_a', 'v_b', 'v_c']);
    expect(await core.conductor.takeBack.progress()).toMatchObject({ left: 3, waits_for: refusal.message });
    await core.pass(60 * minute);
    // Not more often than its patience grows.
    expect(core.service.count('remove')).toBeLessThan(80);
    core.service.failing.delete('remove');
    await core.until(core.isOver);
    expect(sorted(core.service.videos)).toEqual([]);
  },
);

test('a video stays if the service refuses to delete it', async () => {
  const core = await begin([done('a')]);
  core.service.failing.set('remove', failure('permanent'));
  await core.start();
  await core.until(core.isOver);
  expect(core.store.row('a')).toMatchObject({ end: 'done', dying: false, videoId: 'v_a' });
  expect((await core.conductor.takeBack.progress())?.kept).toMatchObject([{ why: 'it was permanent' }]);
  // The last receipt counts if the ledger is rebuilt.
  expect(core.appended).toEqual(['taken back a', 'ready a']);
});

test('a service that answers 404 to everything takes nothing back', async () => {
  const core = await begin([done('a'), done('b')]);
  core.service.failing.set('all', failure('gone'));
  await core.start();
  await core.pass(60 * minute);
  expect(core.store.states()).toEqual(['done', 'done']);
  expect(core.service.count('remove')).toBe(0);
  core.service.failing.clear();
  await core.until(core.isOver);
  expect(core.store.states()).toEqual(['skipped', 'skipped']);
});

test('a service that confirms a DELETE and still has the video is not believed', async () => {
  const core = await begin([done('a')]);
  const { host } = core.service;
  const remove = host.remove;
  let isLying = true;
  Object.assign(host, {
    remove: (...asked: Parameters<typeof remove>) =>
      isLying ? (core.service.asked.push('remove'), Promise.resolve({ ok: true, value: null })) : remove(...asked),
  });
  await core.start();
  await core.until(() => core.service.count('remove') > 2);
  expect(core.store.row('a')).toMatchObject({ dying: true, videoId: 'v_a' });
  isLying = false;
  await core.until(core.isOver);
  expect(core.store.row('a').videoId).toBeNull();
});

test('a run is stopped after the video whose deletion has begun; the others stay, also after a restart', async () => {
  const core = await begin([done('a'), done('b'), done('c')]);
  core.service.failing.set('remove', failure('transient'));
  await core.start();
  await core.until(() => core.store.row('a').dying);
  expect(await core.conductor.takeBack.stop('anna')).toBe(true);
  expect(await core.conductor.takeBack.stop('anna')).toBe(false);
  await core.stop();
  core.service.failing.clear();
  const marked = core.store.all.filter(({ dying }) => dying).length;
  const again = core.restart();
  await again.pass(30 * minute);
  expect(core.store.states().filter((state) => state === 'skipped')).toHaveLength(marked);
  expect(core.service.videos.size).toBe(3 - marked);
  expect(await again.conductor.takeBack.progress()).toMatchObject({ stopped_by: 'anna', taken: marked, left: 0 });
});

test('a stop while a file is read leaves its video', async () => {
  const read = Promise.withResolvers<void>();
  let isReading = false;
  const core = await begin([done('a')], {
    hash: async ({ id }) => {
      isReading = true;
      await read.promise;
      return { ok: true, value: id };
    },
  });
  await core.start();
  await core.until(() => isReading);
  await core.conductor.takeBack.stop('anna');
  read.resolve();
  await core.until(core.isOver);
  expect([sorted(core.service.videos), core.store.states()]).toEqual([['v_a'], ['done']]);
});

test('a run continues once a ledger that did not answer does', async () => {
  const core = await begin([done('a')]);
  const { note } = core.store;
  let isAway = true;
  Object.assign(core.store, {
    note: (name: string) => (isAway ? Promise.reject(new Error('no answer')) : note.call(core.store, name)),
  });
  await expect(core.start()).rejects.toThrow('no answer');
  isAway = false;
  expect(await core.start()).toBe(true);
  await core.until(core.isOver);
  expect(sorted(core.service.videos)).toEqual([]);
});

test('no second run begins before the first one is over', async () => {
  const core = await begin([done('a')]);
  core.service.failing.set('remove', failure('transient'));
  expect([await core.start(), await core.start()]).toEqual([true, false]);
});

test('files whose folder is away wait, and hold no other one up', async () => {
  let isAway = true;
  const away = failure('suspended', { code: folderAway });
  const core = await begin([done('a'), done('b'), done('c'), done('d')], {
    hash: async ({ id }) => (id !== 'd' && isAway ? { ok: false, failure: away } : { ok: true, value: id }),
  });
  await core.start();
  await core.until(() => core.store.row('a').end === 'done' && core.service.count('get') > 0);
  await core.pass(500);
  expect(core.store.states()).toEqual(['done', 'done', 'done', 'skipped']);
  isAway = false;
  await core.until(core.isOver);
  expect(core.store.states()).toEqual(['skipped', 'skipped', 'skipped', 'skipped']);
});

test('new uploads continue in the meantime', async () => {
  const core = await begin([done('a')]);
  core.store.all.push(...files(3).map((facts) => ({ ...facts, plan: { ...somePlan, publish: [] } })));
  await core.start();
  await core.until(() => core.store.states().every((state) => state === 'done' || state === 'skipped'));
  expect(core.service.videos.size).toBe(3);
});
