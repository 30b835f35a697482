import { describe, expect, test } from 'vitest';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import type { Failure } from '../../src/pipeline/file/failure.ts';
import { failure, someFacts, somePlan, someVersion } from './some-facts.ts';
import { files, hour, minute, outside, startCore } from './running-core.ts';

const quota = failure('suspended', { code: 'quota_reached', status: 403, message: 'the service answered 403' });
const full = failure('transient', { code: 'insufficient_storage', status: 507, inDoubt: true });

/** A service that refuses a create request for as long as `why` says so. `refused` has the files that it refused. */
function refusing(rows: ReturnType<typeof files>, why: (id: string) => Failure | null) {
  const world = outside(rows);
  const { host } = world.service;
  const create = host.create;
  const refused: string[] = [];
  host.create = async (facts, ...asked) => {
    const because = why(facts.id);
    if (because === null) return create(facts, ...asked);
    refused.push(facts.id);
    return { ok: false, failure: because };
  };
  return { ...world, refused };
}

/** A service with room for so many new videos, until a time. */
function withQuota(count: number, room: number, why: Failure = quota) {
  let left = room;
  const world = refusing(files(count), () => (left > 0 && (left -= 1) >= 0 ? null : why));
  return { ...world, refill: (more: number) => void (left = more) };
}

const isOver = ({ all }: ReturnType<typeof outside>['store']) => all.every(({ end }) => end === 'done');
const ofPause = (told: readonly { readonly type: string }[]) =>
  told.flatMap(({ type }) => (type === 'paused' || type === 'resumed' ? [type] : []));

test.each([
  ['a quota', quota],
  ['a daily limit', failure('throttled', { code: 'dailyLimitExceeded', status: 429 })],
  ['a limit of uploads', failure('permanent', { code: 'uploadLimitExceeded', status: 400 })],
  ['full storage', full],
])('%s of five videos: one pause, one request an hour, no failure, and all are done in the end', async (_, why) => {
  const world = withQuota(20, 5, why);
  const { pass, until, store, told, conductor } = startCore(world);
  await pass(10 * minute);
  expect(store.all.filter(({ end }) => end === 'done')).toHaveLength(5);
  // Two create requests are under way at a time.
  expect(world.refused.length).toBeLessThanOrEqual(2);
  const before = world.refused.length;
  await pass(10 * hour);
  expect(world.refused.length - before).toBeGreaterThanOrEqual(9);
  expect(world.refused.length - before).toBeLessThanOrEqual(10);
  expect(store.all.every(({ end, attempts }) => (end === null || end === 'done') && attempts === 0)).toBe(true);
  expect(told.filter(({ type }) => type === 'failure').length).toBeLessThanOrEqual(world.refused.length);
  expect(conductor.createsPauses()).toMatchObject([{ holds: 'new files', code: why.code }]);
  expect(ofPause(told)).toEqual(['paused']);
  world.refill(100);
  await until(() => isOver(store), 10_000);
  expect(ofPause(told)).toEqual(['paused', 'resumed']);
  expect(world.service.count('create')).toBe(20);
  expect(world.service.count('probe')).toBe(0);
});

test('the service says when its quota is reset: nothing is tried before, and at that time all continues', async () => {
  const world = withQuota(4, 0, { ...quota, retryAfterMs: 5 * hour });
  const { pass, until, store } = startCore(world);
  await pass(4.9 * hour);
  expect(world.refused.length).toBeLessThanOrEqual(2);
  world.refill(100);
  await until(() => isOver(store), 10_000);
});

test('a wait that is too short or too long is limited to a minute and a day', async () => {
  const short = withQuota(3, 0, { ...quota, retryAfterMs: 1_000 });
  await startCore(short).pass(10.5 * minute);
  expect(short.refused.length).toBeLessThanOrEqual(12);
  const long = withQuota(3, 0, { ...quota, retryAfterMs: 1_000 * hour });
  const core = startCore(long);
  for (let n = 0; n < 5; n += 1) await core.pass(5 * hour);
  expect(long.refused.length).toBeGreaterThanOrEqual(2);
});

test('a restart forgets no quota: it costs no request', async () => {
  const world = withQuota(8, 3);
  const before = startCore(world);
  await before.pass(5 * minute);
  await before.stop();
  const asked = world.refused.length;
  const [learned] = before.conductor.createsPauses();
  const { pass, until, store, conductor, told } = startCore(world);
  await pass(40 * minute);
  expect(world.refused).toHaveLength(asked);
  expect(conductor.createsPauses()).toMatchObject([{ since: learned?.since, code: 'quota_reached' }]);
  expect(ofPause(told)).toEqual(['paused']);
  world.refill(100);
  await until(() => isOver(store), 10_000);
});

test('`dropcast retry` tries at once, also if the only file was refused before', async () => {
  const world = withQuota(1, 0);
  const { pass, until, store, conductor } = startCore(world);
  await pass(2 * minute);
  expect(world.refused).toHaveLength(1);
  world.refill(1);
  conductor.probeNow();
  await until(() => isOver(store), 100);
});

test('uploads, processing and publishing continue while the service refuses new videos', async () => {
  const world = withQuota(6, 2);
  let open = (): void => undefined;
  world.service.uploadGate = new Promise<void>((resolve) => (open = resolve));
  const { pass, until, store } = startCore(world);
  await pass(minute);
  open();
  await until(() => store.all.filter(({ end }) => end === 'done').length === 2, 1_000);
});

test('a file that does not fit into what is left keeps no smaller one waiting', async () => {
  const world = refusing(files(12), (id) => (id === 'f_0' ? quota : null));
  const { pass, store } = startCore(world);
  await pass(3 * hour);
  expect(store.all.filter(({ end }) => end === 'done')).toHaveLength(11);
  expect(store.row('f_0')).toMatchObject({ end: null, attempts: 0 });
  expect(world.refused.length).toBeLessThanOrEqual(5);
});

const unknown = failure('permanent', { code: 'E_1234', status: 400, message: 'no' });

test('the same unknown refusal of three files is one pause, and those that had failed wait again', async () => {
  let isRefusing = true;
  const world = refusing(files(12), () => (isRefusing ? unknown : null));
  const { pass, until, store, told, conductor } = startCore(world);
  await pass(4 * minute);
  expect(store.all.filter(({ end }) => end !== null)).toEqual([]);
  expect(world.refused.length).toBeLessThanOrEqual(4);
  expect(conductor.createsPauses()).toMatchObject([
    { code: 'E_1234', trouble: 'account', why: 'the service refused 3 different files alike: no' },
  ]);
  for (let n = 0; n < 3; n += 1) await pass(8 * hour);
  expect(world.refused.length).toBeLessThanOrEqual(4 + 28);
  expect(store.all.filter(({ end }) => end !== null)).toEqual([]);
  isRefusing = false;
  await until(() => isOver(store), 10_000);
  expect(ofPause(told)).toEqual(['paused', 'resumed']);
});

describe('after a kill, when three files had been refused alike', () => {
  const now = outside([]).clock.now();
  const failed = { end: 'failed', endedAt: now - 2 * minute, lastFailure: unknown, discoveredAt: now - hour } as const;
  const account = { trouble: 'account', since: now - minute } as const;
  const waits = { lastFailure: { ...unknown, kind: 'suspended', account }, notBefore: now + 4 * minute } as const;

  test.each([
    ['the third one waits already', { 2: waits }],
    ['the third one is sent again', {}],
  ])('%s: the first two wait too', async (_, others: Record<number, Partial<Facts>>) => {
    let isRefusing = true;
    const rows = files(6).map((facts, n) => ({ ...facts, ...(n < 2 && failed), ...others[n] }));
    const world = refusing(rows, () => (isRefusing ? unknown : null));
    const { pass, until, store, conductor } = startCore(world);
    await pass(3 * minute);
    expect(store.all.filter(({ end }) => end !== null)).toEqual([]);
    expect(conductor.createsPauses()).toMatchObject([{ code: 'E_1234', trouble: 'account' }]);
    isRefusing = false;
    await until(() => isOver(store), 10_000);
  });

  test.each<[string, Partial<Facts>]>([
    ['the service has created a record since then', { createdAt: now - minute, videoId: 'vid_0', end: 'done' }],
    ['that was more than an hour ago', { endedAt: now - 2 * hour }],
    ['they have a record', { videoId: 'vid_1', uploadUrl: 'u:vid_1' }],
    ['it was for another reason', { lastFailure: { ...unknown, code: 'E_2' } }],
  ])('they stay failed if %s', async (_, other) => {
    const rows = files(3).map((facts, n) => ({ ...facts, ...(n < 2 && failed), ...(n === 0 && other) }));
    const world = refusing(rows, () => unknown);
    const { pass, store, conductor } = startCore(world);
    await pass(3 * minute);
    expect([store.row('f_1').end, store.row('f_2').end]).toEqual(['failed', 'failed']);
    expect(conductor.createsPauses()).toEqual([]);
  });
});

test('files that are to blame themselves fail once another one gets its record', async () => {
  const isBad = (id: string): boolean => ['f_0', 'f_1', 'f_2', 'f_3'].includes(id);
  const world = refusing(files(8), (id) => (isBad(id) ? unknown : null));
  const { until, store } = startCore(world);
  await until(() => store.all.every(({ end }) => end !== null), 10_000);
  expect(store.all.map(({ id, end }) => end === (isBad(id) ? 'failed' : 'done'))).toEqual(store.all.map(() => true));
});

test('the same unknown refusal of three uploads is one pause of their host, and no file fails in the end', async () => {
  const world = outside(files(12));
  world.service.failing.set('send', { ...unknown, message: 'no uploads today' });
  const { pass, until, store, told, conductor } = startCore(world);
  await pass(4 * minute);
  expect(store.all.filter(({ end }) => end !== null)).toEqual([]);
  expect(conductor.pause()).toMatchObject({ kind: 'offline', holds: 'uploads', code: 'E_1234' });
  for (let n = 0; n < 3; n += 1) await pass(4 * hour);
  expect(store.all.filter(({ end }) => end !== null)).toEqual([]);
  expect(world.service.count('create')).toBeLessThanOrEqual(8);
  expect(world.service.count('send')).toBeLessThanOrEqual(4 + 7 + 12);
  world.service.failing.delete('send');
  await until(() => isOver(store), 10_000);
  expect(ofPause(told)).toEqual(['paused', 'resumed']);
  expect(world.service.count('create')).toBe(12);
});

test.each([
  [400, 'invalid_title'],
  [422, 'no'],
  [413, 'too_large'],
])('a refusal of the content (%i %s) concerns each file, however many there are', async (status, code) => {
  const world = refusing(files(5), () => failure('permanent', { code, status }));
  const { until, store, conductor } = startCore(world);
  await until(() => store.all.every(({ end }) => end === 'failed'), 1_000);
  expect(conductor.createsPauses()).toEqual([]);
});

test('403 to create requests alone: new files wait, and the account is not paused again and again', async () => {
  let isRefusing = true;
  const forbidden = failure('suspended', { code: 'forbidden', status: 403 });
  const world = refusing(files(6), () => (isRefusing ? forbidden : null));
  const { pass, until, store, told, conductor } = startCore(world);
  await pass(3 * hour);
  expect(conductor.pause()).toBeNull();
  // The requests that were under way at first; a later try asks for nothing else.
  expect(world.service.count('probe')).toBeLessThanOrEqual(2);
  expect(ofPause(told)).toEqual(['paused']);
  expect(world.refused.length).toBeLessThanOrEqual(8);
  isRefusing = false;
  await until(() => isOver(store), 10_000);
});

test('a suspended channel holds back its own files only', async () => {
  const other = Array.from({ length: 4 }, (_, n) =>
    someFacts({
      id: `o_${n}`,
      path: `o${n}.mp4`,
      version: { ...someVersion, size: 50 + n },
      plan: { ...somePlan, channel: 'ch_b' },
    }),
  );
  let isRefusing = true;
  const suspended = failure('suspended', { code: 'channelSuspended', status: 403 });
  const world = refusing([...files(4), ...other], (id) => (isRefusing && id.startsWith('f_') ? suspended : null));
  const { pass, until, store, conductor } = startCore(world);
  await pass(30 * minute);
  expect(store.all.filter(({ id, end }) => id.startsWith('o_') && end === 'done')).toHaveLength(4);
  expect(world.refused.length).toBeLessThanOrEqual(2);
  expect(conductor.createsPauses()).toMatchObject([{ trouble: 'channel', channel: 'ch_main' }]);
  isRefusing = false;
  await until(() => isOver(store), 10_000);
});

test('a video that fails in processing says nothing about the account', async () => {
  const world = outside(files(6));
  world.service.beforeLook = () => {
    for (const video of world.service.videos.values()) if (video.status === 'processing') video.status = 'failed';
  };
  const { until, store, told } = startCore(world);
  await until(() => store.all.every(({ end }) => end === 'failed'), 1_000);
  expect(ofPause(told)).toEqual([]);
});

test('another host of the fleet learns a quota and its end from the rows', async () => {
  const world = withQuota(6, 2);
  const first = startCore(world);
  await first.pass(5 * minute);
  const learned = first.conductor.createsPauses();
  const idle = startCore({ ...outside([]), clock: world.clock });
  for (const facts of world.store.all) idle.conductor.heard(facts);
  expect(idle.conductor.createsPauses()).toMatchObject([
    { since: learned[0]?.since, nextProbeAt: learned[0]?.nextProbeAt },
  ]);
  world.refill(10);
  await first.until(() => isOver(world.store), 10_000);
  for (const facts of world.store.all) idle.conductor.heard(facts);
  expect(idle.conductor.createsPauses()).toEqual([]);
});
