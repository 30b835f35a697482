import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import type { ConductorWorld } from '../../src/pipeline/conductor.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import { day, outside, someLocal, startCore } from './running-core.ts';
import { created, failure, ready, someFacts, somePlan, uploaded } from './some-facts.ts';

// The loop ticks once a second. What is to be done earlier must not wait for that.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** When the clock of the tests begins. */
const start = 100 * day;
const settings = {
  poll: { intervalMs: 400, giveUpAfterMs: day },
  retry: { attempts: 12, firstMs: 100, maxMs: 100 },
  publish: { quietMs: 400, atMostMs: day },
};

/** One file on its way, and time that passes without anybody looking at it. */
async function open(facts: Partial<Facts>, status = 'pending', local: Partial<ConductorWorld['local']> = {}) {
  const world = outside([someFacts(facts)]);
  world.service.videos.set('vid_1', { title: 'Clip', status });
  const core = startCore(world, { local: { ...someLocal, ...local } }, settings);
  await turns();
  const pass = async (ms: number): Promise<void> => {
    world.clock.advance(ms);
    vi.advanceTimersByTime(ms);
    await turns();
  };
  return { ...core, pass };
}

/** Whatever can go on without a timer does. */
async function turns(): Promise<void> {
  for (let n = 0; n < 50; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

const unpublished = { plan: { ...somePlan, publish: [] } };

describe('without a tick', () => {
  test('a file continues when its backoff is over', async () => {
    const { service, pass } = await open({ ...unpublished, notBefore: start + 400 });
    await pass(399);
    expect(service.count('create')).toBe(0);
    await pass(1);
    expect(service.count('create')).toBe(1);
  });

  test('a file that failed continues when its new backoff is over', async () => {
    const { clock, service, store, pass } = await open({ ...unpublished, notBefore: start + 400 });
    service.failing.set('create', failure('transient', { status: 500 }));
    await pass(400);
    expect(stateOf(store.row())).toBe('retrying');
    service.failing.clear();
    await pass((store.row().notBefore ?? 0) - clock.now());
    expect(service.count('create')).toBe(2);
  });

  test('the service is polled for a video again once the interval is over, and the file is done at once', async () => {
    const { service, store, pass } = await open({ ...uploaded, ...unpublished, processingSince: start });
    await pass(400);
    expect(service.asked).toEqual(['get', 'get']);
    service.videos.set('vid_1', { title: 'Clip', status: 'processing' });
    await pass(400);
    expect(service.asked).toEqual(['get', 'get', 'get']);
    expect(stateOf(store.row())).toBe('done');
  });

  test('a feed is published once it was quiet for long enough, and what is done is put away', async () => {
    const { service, store, pass } = await open({ ...ready, readyAt: start, afterReady: { kind: 'delete' } });
    await pass(399);
    expect(service.count('publish feed_news')).toBe(0);
    await pass(1);
    expect(service.count('publish feed_news')).toBe(1);
    expect(store.row()).toMatchObject({ end: 'done', disposal: 'deleted' });
  });

  test('the quiet time of a feed begins when the service is heard to have the video ready', async () => {
    const { service, pass } = await open({ ...uploaded, processingSince: start }, 'processing');
    expect(service.asked).toEqual(['get']);
    await pass(399);
    expect(service.asked).toEqual(['get']);
    await pass(1);
    expect(service.asked).toEqual(['get', 'publish feed_news']);
  });

  test('late metadata is sent again when its backoff is over', async () => {
    const facts = { ...ready, end: 'done', endedAt: 5, disposal: 'kept', amendment: { title: 'New' } } as const;
    const world = outside([someFacts(facts)]);
    world.service.failing.set('amend', failure('transient', { retryAfterMs: 400 }));
    startCore(world, {}, settings);
    await turns();
    for (const [ms, sent] of [
      [399, 1],
      [1, 2],
    ] as const) {
      world.clock.advance(ms);
      vi.advanceTimersByTime(ms);
      await turns();
      expect(world.service.count('amend')).toBe(sent);
    }
  });

  test('a local file is put away when its backoff is over', async () => {
    const facts = { ...ready, end: 'done', endedAt: 5, disposal: 'pending', afterReady: { kind: 'delete' } } as const;
    let tries = 0;
    const dispose = async () => {
      tries += 1;
      return { ok: false as const, failure: failure('transient', { retryAfterMs: 400 }) };
    };
    const { pass } = await open(facts, 'ready', { dispose });
    expect(tries).toBe(1);
    await pass(399);
    expect(tries).toBe(1);
    await pass(1);
    expect(tries).toBe(2);
  });

  test('an upload host that was away is tried with another file when its time has come', async () => {
    const world = outside([
      someFacts({ ...created, ...unpublished }),
      someFacts({ id: 'f_2', path: '2.mp4', ...unpublished, ...created, videoId: 'vid_2', uploadUrl: 'u:vid_2' }),
    ]);
    for (const id of ['vid_1', 'vid_2']) world.service.videos.set(id, { title: 'Clip', status: 'pending' });
    world.service.failing.set('send', failure('offline', { retryAfterMs: 1_400 }));
    startCore(world, {}, { ...settings, uploads: 1 });
    await turns();
    expect(world.service.count('send')).toBe(1);
    for (const [ms, sent] of [
      [1_399, 1],
      [1, 2],
    ] as const) {
      world.clock.advance(ms);
      vi.advanceTimersByTime(ms);
      await turns();
      expect(world.service.count('send')).toBe(sent);
    }
  });

  test('a service that was away is probed when its time has come', async () => {
    const { conductor, clock, service, pass } = await open({ ...unpublished, notBefore: start + 400 });
    service.failing.set('all', failure('offline'));
    await pass(400);
    const inMs = (conductor.pause()?.nextProbeAt ?? 0) - clock.now();
    const probes = service.count('probe');
    await pass(inMs);
    expect(service.count('probe')).toBe(probes + 1);
  });
});
