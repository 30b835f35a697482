import { expect, test } from 'vitest';
import type { QuotaAmount } from '../../src/pipeline/estimate.ts';
import type { QuotaNow } from '../../src/pipeline/quota.ts';
import { day, files, hour, minute, outside, startCore } from './running-core.ts';
import { someFacts, someVersion } from './some-facts.ts';

const unlimited: QuotaAmount = { videos: Infinity, bytes: Infinity, minutes: Infinity };

/** A quota for each day of the clock, from midnight to midnight. */
const daily = (clock: { now(): number }, most: Partial<QuotaAmount>) => (): QuotaNow => {
  const since = Math.floor(clock.now() / day) * day;
  return { since, until: since + day, per: 'day', most: { ...unlimited, ...most } };
};

const done = ({ all }: ReturnType<typeof outside>['store']): number => all.filter(({ end }) => end === 'done').length;

test('twenty files with a quota of five a day: no request beyond it, one cause a day, and all are done', async () => {
  const world = outside(files(20));
  const { pass, until, store, told, conductor } = startCore(world, { quota: daily(world.clock, { videos: 5 }) });
  await pass(5 * hour);
  expect([done(store), world.service.count('create')]).toEqual([5, 5]);
  expect(conductor.createsPauses()).toMatchObject([
    { holds: 'new files', trouble: 'quota', why: 'service.quota: 5 of 5 videos are used today' },
  ]);
  expect(conductor.createsPauses()[0]?.nextProbeAt).toBe(Math.ceil(world.clock.now() / day) * day);
  expect(conductor.quotaRoom()?.left.videos).toBe(0);
  for (let n = 0; n < 5; n += 1) await pass(4 * hour);
  expect([done(store), world.service.count('create')]).toEqual([10, 10]);
  await until(() => done(store) === 20, 10_000);
  expect(told.filter(({ type }) => type === 'failure')).toEqual([]);
  expect(told.filter(({ type }) => type === 'paused').length).toBeLessThanOrEqual(4);
});

test('a restart and a kill forget nothing that was created', async () => {
  const world = outside(files(8));
  const quota = { quota: daily(world.clock, { videos: 3 }) };
  const before = startCore(world, quota);
  await before.until(() => world.service.count('create') === 2, 100);
  await before.stop();
  const { pass } = startCore(world, quota);
  await pass(3 * hour);
  expect(world.service.count('create')).toBe(3);
});

test('bytes: the first file that does not fit ends the day, and a file larger than the quota goes alone', async () => {
  const sizes = [40, 40, 40, 500, 10];
  const world = outside(
    sizes.map((size, n) => someFacts({ id: `f_${n}`, path: `${n}.mp4`, version: { ...someVersion, size } })),
  );
  const { pass, store } = startCore(world, { quota: daily(world.clock, { bytes: 100 }) });
  await pass(2 * hour);
  expect(done(store)).toBe(2);
  const days: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    for (let part = 0; part < 4; part += 1) await pass(6 * hour);
    days.push(done(store));
  }
  expect(days[2]).toBe(5);
  expect(Math.max(...days.map((count, n) => count - (days[n - 1] ?? 2)))).toBeLessThanOrEqual(2);
});

test('minutes: durations are counted over a restart, and an unknown one counts as none', async () => {
  const world = outside(files(7));
  const durationOf = async ({ path }: { readonly path: string }) => (path === '0.mp4' ? null : 600);
  const other = { quota: daily(world.clock, { minutes: 30 }), durationOf };
  const before = startCore(world, other);
  await before.pass(3 * hour);
  await before.stop();
  const { pass } = startCore(world, other);
  await pass(3 * hour);
  // Three of ten minutes, and the one that is unknown.
  expect(world.service.count('create')).toBe(4);
});

test('a quota that a reload raises lets files continue at once', async () => {
  const world = outside(files(4));
  let most = { videos: 1 };
  const { pass, until, store, conductor } = startCore(world, { quota: () => daily(world.clock, most)() });
  await pass(10 * minute);
  expect(done(store)).toBe(1);
  most = { videos: 10 };
  conductor.probeNow();
  await until(() => done(store) === 4, 1_000);
});
