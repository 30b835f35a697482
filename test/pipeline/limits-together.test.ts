import { expect, test } from 'vitest';
import type { ConductorWorld } from '../../src/pipeline/conductor.ts';
import { sizeLimitNote } from '../../src/pipeline/file/size-limit.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { day, hour, minute, outside, startCore } from './running-core.ts';
import { failure, someFacts, somePlan, someVersion } from './some-facts.ts';

const mib = 1024 ** 2;

const quotaReached = failure('suspended', { code: 'quota_reached', status: 403, message: 'the service answered 403' });

const sized = (name: string, size: number, other: Partial<Facts> = {}): Facts =>
  someFacts({
    id: `f_${name}`,
    path: `${name}.mp4`,
    version: { ...someVersion, ino: name, size: size * mib },
    plan: { ...somePlan, publish: [] },
    ...other,
  });

/** A service that refuses files of more than 6 MiB, and has room for so many new videos. */
function strict(rows: readonly Facts[], room: number) {
  const world = outside(rows);
  const { create, send } = world.service.host;
  const puts: string[] = [];
  let left = room;
  world.service.host.create = async (...asked) =>
    left > 0 && (left -= 1) >= 0 ? create(...asked) : { ok: false, failure: quotaReached };
  world.service.host.send = async (facts, hooks) => {
    puts.push(facts.id);
    if (facts.version.size <= 6 * mib) return send(facts, hooks);
    const sizeLimit = { from: 'service', mostBytes: null } as const;
    return { ok: false, failure: failure('permanent', { status: 413, code: 'payload_too_large', sizeLimit }) };
  };
  return { ...world, puts, refill: (more: number) => void (left = more) };
}

const monthly = ({ clock }: ReturnType<typeof outside>, videos: number): ConductorWorld['quota'] => {
  const since = clock.now();
  return () => ({ most: { videos, bytes: Infinity, minutes: Infinity }, per: 'month', since, until: since + 30 * day });
};

const limitOf6 = (at: number) => ({ mostBytes: 6 * mib, isStated: false, refusedBytes: 7 * mib, at, said: '413' });

test.each([
  ['the service refuses new videos', Infinity],
  ['service.quota is used up', 1],
])('a file that is too large is held, and its record deleted, while %s', async (_, videos) => {
  const world = strict([sized('7', 7), sized('1', 1)], 1);
  const quota = monthly(world, videos);
  const { until, pass, store, service, conductor } = startCore(world, { quota }, { uploads: 1 });
  await until(() => conductor.createsPauses().length > 0, 1_000);
  await pass(5 * minute);
  expect(store.row('f_7')).toMatchObject({ end: 'held', videoId: null, lastFailure: { code: 'over_size_limit' } });
  expect([service.videos.size, conductor.createsPauses().length]).toEqual([0, 1]);
});

test('a record that is replaced is deleted, and its file waits, while the service refuses new videos', async () => {
  const waiting = { notBefore: 100 * day + 20_000, lastFailure: failure('transient') };
  const dying = { videoId: 'vid_9', uploadUrl: 'u:vid_9', createdAt: 1, dying: true, ...waiting };
  const world = strict([sized('1', 1), sized('2', 1, dying)], 0);
  world.service.videos.set('vid_9', { title: '2', status: 'pending' });
  const { until, pass, store, service } = startCore(world);
  await pass(5 * minute);
  expect([service.videos.size, store.row('f_2').videoId, store.row('f_2').end]).toEqual([0, null, null]);
  expect(service.count('remove')).toBe(1);
  world.refill(2);
  await until(() => store.all.every(({ end }) => end === 'done'), minute);
  expect(service.count('create')).toBe(2);
});

test('a retry of a file above a learned limit is carried out after a wait for the quota', async () => {
  const world = strict([sized('7', 7)], 0);
  await world.store.saveNote(sizeLimitNote, limitOf6(world.clock.now()));
  const { until, pass, store, conductor } = startCore(world);
  await until(() => store.row('f_7').end === 'held');
  await pass(minute);
  await conductor.apply('f_7', { type: 'RETRY' });
  await until(() => conductor.createsPauses().length > 0, 1_000);
  world.refill(1);
  await pass(2 * hour);
  expect([world.puts, store.row('f_7').end]).toEqual([['f_7'], 'held']);
});

test('a large file whose answer was lost shows by its status that the service accepts files of that size', async () => {
  const world = outside([sized('7', 7), sized('8', 8)]);
  await world.store.saveNote(sizeLimitNote, limitOf6(world.clock.now()));
  const { send } = world.service.host;
  world.service.host.send = async (...asked) => {
    const answer = await send(...asked);
    return asked[0].id === 'f_7' ? { ok: false, failure: failure('transient', { inDoubt: true }) } : answer;
  };
  const { until, store, conductor } = startCore(world);
  await until(() => store.all.every(({ end }) => end === 'held'));
  await until(() => world.clock.now() > 100 * day + minute);
  await conductor.apply('f_7', { type: 'RETRY' });
  await until(() => store.row('f_7').end === 'done');
  expect(await store.note(sizeLimitNote)).toBeNull();
  await until(() => store.row('f_8').end === 'done');
});

test('the times of a pause are whole milliseconds, although the monotonic clock has fractions', async () => {
  const world = strict([sized('1', 1)], 0);
  world.clock.advance(0.4);
  const { until, conductor, clock } = startCore(world);
  await until(() => conductor.createsPauses().length > 0, 0.3);
  const [pause] = conductor.createsPauses();
  expect([clock.elapsed() % 1, pause?.since, pause?.nextProbeAt].map((at) => Number.isInteger(at))).toEqual([
    false,
    true,
    true,
  ]);
});

test('the daily test of a learned limit waits until new videos are accepted, and costs one file', async () => {
  const world = strict([sized('1', 1), sized('7', 7), sized('8', 8)], 0);
  await world.store.saveNote(sizeLimitNote, limitOf6(world.clock.now()));
  const { until, store, clock } = startCore(world);
  const pass = async (ms: number): Promise<void> => {
    const end = clock.elapsed() + ms;
    await until(() => clock.elapsed() >= end, minute);
  };
  await pass(3 * day);
  expect([store.row('f_7').end, store.row('f_8').end, store.row('f_1').end]).toEqual(['held', 'held', null]);
  world.refill(5);
  await pass(3 * hour);
  expect(world.puts).toEqual(['f_1', 'f_7']);
});

test('the daily test of a learned limit is sent although no file waits for the service to accept videos', async () => {
  const world = strict([sized('1', 1), sized('7', 7)], 0);
  await world.store.saveNote(sizeLimitNote, limitOf6(world.clock.now()));
  const { until, store, conductor } = startCore(world);
  await until(() => conductor.createsPauses().length > 0 && store.row('f_1').notBefore !== null);
  await conductor.apply('f_1', { type: 'FILE_GONE' });
  world.refill(5);
  await until(() => world.puts.length > 0, minute);
});
