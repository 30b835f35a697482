import { describe, expect, test } from 'vitest';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { createOperatorPauses } from '../../src/pipeline/operator-pauses.ts';
import type { Elsewhere } from '../../src/pipeline/file/ports.ts';
import { recordingEvents } from './held-rows.ts';
import { MemoryStore } from './memory-store.ts';
import { files, hour, minute, outside, startCore } from './running-core.ts';
import { created, uploaded } from './some-facts.ts';
import { TestClock } from './test-clock.ts';

function open() {
  const [clock, store, events] = [new TestClock(1_000_000), new MemoryStore(), recordingEvents()];
  const woken: string[] = [];
  const start = (elsewhere: Pick<Elsewhere, 'isHeld'> | null = null) =>
    createOperatorPauses({ store, clock, elsewhere, events, ended: () => woken.push('woken') });
  return { woken, clock, store, told: events.told, start, pauses: start() };
}

const anna = { folder: '/a', until: null, by: 'anna' } as const;

describe('a pause that a person set', () => {
  test('holds its folder and no other; one of everything holds all', async () => {
    const { pauses } = open();
    await pauses.set(anna);
    expect([pauses.holds('/a')?.by, pauses.holds('/b'), pauses.all()]).toEqual(['anna', null, null]);
    await pauses.set({ ...anna, folder: null, by: 'bob' });
    expect([pauses.holds('/b')?.by, pauses.all()?.by, pauses.list().length]).toEqual(['bob', 'bob', 2]);
  });

  test('is there after a restart, before anything can begin', async () => {
    const { pauses, start } = open();
    await pauses.set(anna);
    const again = start();
    await again.keep();
    expect(again.list()).toEqual([{ ...anna, since: 1_000_000 }]);
  });

  test('holds on all hosts that have the same rows, whichever host set it', async () => {
    const { start, clock, told, woken } = open();
    const [here, there] = [start({ isHeld: () => false }), start({ isHeld: () => false })];
    await here.keep();
    await there.set(anna);
    await here.keep();
    expect(here.list()).toEqual([]);
    clock.advance(2_000);
    await here.keep();
    expect([here.holds('/a')?.by, told.length]).toEqual(['anna', 1]);
    expect((await here.end('/a', 'bob'))?.by).toBe('anna');
    await there.set(anna);
    expect((await here.end('/a', 'bob'))?.by).toBe('anna');
    woken.length = 0;
    clock.advance(2_000);
    await there.keep();
    expect([there.list(), woken]).toEqual([[], ['woken']]);
  });

  test('ends automatically at its time, once, even while dropcast did not run', async () => {
    const { pauses, start, clock, store, told } = open();
    await pauses.set({ ...anna, until: clock.now() + hour });
    clock.advance(hour - 1);
    await pauses.keep();
    expect(pauses.list()).toHaveLength(1);
    const stopped = start();
    clock.advance(1);
    await stopped.keep();
    await stopped.keep();
    expect([stopped.list(), await store.pauses()]).toEqual([[], []]);
    expect(told.filter((event) => event.type === 'operator-pause' && event.is === 'over')).toHaveLength(1);
  });

  test.each([
    ['forward', 2 * hour, 0],
    ['back', -2 * hour, 1],
  ])('follows the wall clock when that is set %s', async (_, jumpMs, left) => {
    const { pauses, clock } = open();
    await pauses.set({ ...anna, until: clock.now() + hour });
    clock.set(clock.now() + jumpMs);
    await pauses.keep();
    expect(pauses.list()).toHaveLength(left);
  });

  test('never lasts longer than it was set for, however far back the clock is set, also over a restart', async () => {
    const { pauses, start, clock } = open();
    await pauses.set({ ...anna, until: clock.now() + hour });
    clock.advance(hour / 2);
    clock.set(clock.now() - 10 * 24 * hour);
    const restarted = start();
    await restarted.keep();
    // The real end is shown, because nothing is known of the time before the restart.
    expect(restarted.list().map(({ until }) => until)).toEqual([clock.now() + hour]);
    clock.advance(hour / 2);
    await pauses.keep();
    expect([pauses.list().length, restarted.all()?.until]).toEqual([0, undefined]);
    clock.advance(hour / 2);
    await restarted.keep();
    expect(restarted.list()).toEqual([]);
  });

  test('shows the end it was set for, although the clock on the wall drifts', async () => {
    const { pauses, clock } = open();
    const until = clock.now() + hour;
    await pauses.set({ ...anna, until });
    clock.set(clock.now() - 2);
    expect(pauses.list().map((pause) => pause.until)).toEqual([until]);
  });

  test('set again has the new time and its old beginning; two at the same moment are one', async () => {
    const { pauses, clock, store } = open();
    await pauses.set(anna);
    clock.advance(minute);
    const until = clock.now() + hour;
    await Promise.all([pauses.set({ ...anna, by: 'bob' }), pauses.set({ ...anna, until })]);
    expect(await store.pauses()).toEqual([{ ...anna, until, since: 1_000_000 }]);
    expect(pauses.list()).toEqual(await store.pauses());
  });

  test('ended while it is set again is, in memory and on disk, what came last', async () => {
    const { pauses, store } = open();
    await pauses.set(anna);
    await Promise.all([pauses.end('/a', 'bob'), pauses.set(anna)]);
    expect([pauses.list().length, (await store.pauses()).length]).toEqual([1, 1]);
    await Promise.all([pauses.set(anna), pauses.end('/a', 'bob')]);
    expect([pauses.list(), await store.pauses(), await pauses.end('/a', 'bob')]).toEqual([[], [], null]);
  });

  test('that cannot be written is not there', async () => {
    const { pauses, store } = open();
    store.savePause = async () => Promise.reject(new Error('disk full'));
    await expect(pauses.set(anna)).rejects.toThrow('disk full');
    expect(pauses.list()).toEqual([]);
  });
});

describe('while everything is paused', () => {
  const rows = (): readonly Facts[] => {
    const [waiting, recorded, processing] = files(3) as [Facts, Facts, Facts];
    return [waiting, { ...recorded, ...created, videoId: 'vid_x' }, { ...processing, ...uploaded, videoId: 'vid_y' }];
  };

  test('nothing begins, files on the service continue to their end, and a restart changes nothing', async () => {
    const world = outside(rows());
    world.service.videos.set('vid_x', { title: 'x', status: 'pending' });
    world.service.videos.set('vid_y', { title: 'y', status: 'processing' });
    await world.store.savePause({ folder: null, since: 1, until: null, by: 'anna' });
    const first = startCore(world);
    await first.until(() => world.store.row('f_2').end === 'done');
    expect(await first.conductor.isIdle()).toBe(true);
    await first.stop();
    const second = startCore(world);
    await second.pass(minute);
    expect([world.service.count('create'), world.service.count('send')]).toEqual([0, 0]);
    expect(world.store.states()).toEqual(['queued', 'awaiting upload', 'done']);
    await second.conductor.pauses.end(null, 'bob');
    await second.until(() => world.store.states().every((state) => state === 'done'));
  });

  test('an upload under way is finished', async () => {
    const world = outside(files(1));
    const gate = Promise.withResolvers<void>();
    world.service.uploadGate = gate.promise;
    const { conductor, until } = startCore(world);
    await until(() => world.service.sending === 1);
    await conductor.pauses.set({ folder: null, until: null, by: 'anna' });
    gate.resolve();
    await until(() => world.store.row('f_0').end === 'done');
  });

  test('at its time the files begin automatically', async () => {
    const world = outside(files(1));
    await world.store.savePause({ folder: '/inbox', since: 1, until: world.clock.now() + hour, by: 'anna' });
    const { until, pass } = startCore(world);
    await pass(hour - minute);
    expect(world.store.states()).toEqual(['queued']);
    await until(() => world.store.states().every((state) => state === 'done'));
  });
});
