import { expect, test } from 'vitest';
import { created, failure, someFacts, someVersion } from './some-facts.ts';
import { files, minute, outside, startCore } from './running-core.ts';

const refused = failure('address dead', { status: 403, message: 'the upload address answered 403' });

/** A host that refuses every new address while `refuses` says so, and each address that is older than 90 seconds. */
function start(count: number, refuses: (sinceMs: number) => boolean, expires = true) {
  const world = refusing(count, refuses, expires);
  return { ...startCore(world), service: world.service };
}

function refusing(count: number, refuses: (sinceMs: number) => boolean, expires = true) {
  const world = outside(files(count));
  const { service, clock } = world;
  const began = clock.elapsed();
  const { host } = service;
  const [create, send] = [host.create, host.send];
  const createdAt = new Map<string, number>();
  host.create = async (...asked) => {
    const answer = await create(...asked);
    if (answer.ok) createdAt.set(answer.value.videoId, clock.elapsed());
    return answer;
  };
  host.send = async (facts, hooks) => {
    const ageMs = clock.elapsed() - (createdAt.get(facts.videoId ?? '') ?? 0);
    if (!refuses(clock.elapsed() - began) && !(expires && ageMs > 90_000)) return send(facts, hooks);
    service.asked.push('refused');
    return { ok: false, failure: refused };
  };
  return world;
}

test('a host that refuses every new address costs a few requests an hour, however many files wait', async () => {
  const { service, pass, store, told } = start(30, () => true);
  await pass(90_000);
  const made = service.count('create');
  expect([made < 15, service.count('remove')]).toEqual([true, 0]);
  await pass(60 * minute);
  expect(service.count('create') - made).toBeLessThanOrEqual(6);
  expect(service.count('remove')).toBeLessThanOrEqual(6);
  expect(service.count('refused')).toBeLessThan(80);
  expect(told.filter(({ type }) => type === 'paused')).toHaveLength(1);
  expect(store.all.every(({ end, replacements }) => end === null && replacements === 0)).toBe(true);
});

test('a host that takes files again is found out although all addresses have expired', async () => {
  const { pass, until, store, told } = start(6, (sinceMs) => sinceMs < 3 * minute);
  await pass(8 * minute);
  expect(told.filter(({ type }) => type === 'paused' || type === 'resumed').map(({ type }) => type)).toEqual([
    'paused',
    'resumed',
  ]);
  await until(() => store.all.every(({ end }) => end === 'done'), 1_000);
});

test('a host that takes files again within a minute or two gets them with the records that they have', async () => {
  const { until, service, store } = start(4, (sinceMs) => sinceMs < 50_000, false);
  await until(() => store.all.every(({ end }) => end === 'done'), 1_000);
  // One file was refused before the second showed that it was the host.
  expect([service.count('create'), service.count('remove')]).toEqual([4, 0]);
});

test('a restart does not make a file pay for a host that refuses every new address', async () => {
  const world = refusing(30, () => true);
  const { service, store } = world;
  let core = startCore(world);
  await core.pass(90_000);
  for (let restarts = 0; restarts < 6; restarts += 1) {
    const [made, removed] = [service.count('create'), service.count('remove')];
    await core.stop();
    core = startCore(world);
    await core.pass(3 * minute);
    // One new record tries the host; one file was refused before a second one showed that it was the host.
    expect(service.count('remove') - removed).toBeLessThanOrEqual(2);
    expect(service.count('create') - made).toBeLessThanOrEqual(4);
  }
  expect(store.all.every(({ end, replacements }) => end === null && replacements <= 1)).toBe(true);
});

test('after a restart one file tries a host that refused every new address, and no other pays for it', async () => {
  const world = refusing(8, () => true);
  const { service, store } = world;
  const before = startCore(world);
  await before.pass(90_000);
  await before.stop();
  // These have records whose addresses are old and were never used.
  const unused = store.all.filter(({ uploadStartedAt, videoId }) => uploadStartedAt === null && videoId !== null);
  expect(unused.length).toBeGreaterThan(0);
  const tried = service.count('refused');
  const { pass, told } = startCore(world);
  await pass(30_000);
  expect(service.count('refused') - tried).toBe(1);
  expect(told.filter(({ type }) => type === 'paused' || type === 'resumed').map(({ type }) => type)).toEqual([
    'paused',
  ]);
  await pass(3 * minute);
  const ids = new Set(unused.map(({ id }) => id));
  expect(store.all.filter(({ id, addressDeadAt, dying }) => ids.has(id) && (addressDeadAt !== null || dying))).toEqual(
    [],
  );
});

test('a paused file whose host refused every new address before a restart keeps no other folder waiting', async () => {
  const refusedBefore = failure('offline', { code: 'addresses_refused' });
  const world = outside([
    someFacts({ ...created, videoId: 'vid_0', uploadUrl: 'u:vid_0', folder: '/paused', lastFailure: refusedBefore }),
    someFacts({ id: 'f_2', path: 'other.mp4', version: { ...someVersion, size: 99 } }),
  ]);
  await world.store.savePause({ folder: '/paused', since: 0, until: null, by: 'ann' });
  const { until } = startCore(world);
  await until(() => world.store.all.some(({ id, end }) => id === 'f_2' && end === 'done'), 1_000);
});
