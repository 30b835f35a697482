import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import { outside, startCore } from './running-core.ts';
import { failure, ready, someFacts, somePlan, uploaded } from './some-facts.ts';

// The loop ticks once a second. What is to be done earlier must not wait for that.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const settings = {
  poll: { intervalMs: 400, giveUpAfterMs: 86_400_000 },
  publish: { quietMs: 400, atMostMs: 60_000 },
};
const unpublished = { ...somePlan, publish: [] };

/** The pipeline, and time that passes without anybody looking at it. */
async function open(rows: readonly Partial<Facts>[]) {
  const world = outside([]);
  const now = world.clock.now();
  for (const [n, facts] of rows.entries())
    world.store.rows.push(someFacts({ id: `f_${n}`, path: `${n}.mp4`, discoveredAt: now, ...facts }));
  world.service.videos.set('vid_1', { title: 'Clip', status: 'pending' });
  const core = startCore(world, {}, settings);
  await turns();
  const pass = async (ms: number): Promise<void> => {
    world.clock.advance(ms);
    vi.advanceTimersByTime(ms);
    await turns();
  };
  return { ...core, now, pass };
}

/** Whatever can go on without a timer does. */
async function turns(): Promise<void> {
  for (let n = 0; n < 50; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('without a tick', () => {
  test('a file goes on when its backoff is over', async () => {
    const { conductor, service, store, pass } = await open([{ plan: unpublished }]);
    service.failing.set('create', failure('transient', { retryAfterMs: 300 }));
    conductor.wake();
    await turns();
    await pass(0);
    expect(stateOf(store.row('f_0'))).not.toBe('creating');
    const { notBefore } = store.row('f_0');
    service.failing.clear();
    if (notBefore !== null) await pass(notBefore - (await open([])).now + 1);
    expect(stateOf(store.row('f_0'))).toBe('done');
  });

  test('a file whose backoff began before the start goes on when it is over', async () => {
    const { store, now, pass } = await open([{ plan: unpublished, notBefore: 0 }]);
    expect(now).toBeGreaterThan(0);
    await pass(0);
    expect(stateOf(store.row('f_0'))).not.toBe('retrying');
  });

  test('the service is asked for a video again once the interval is over', async () => {
    const { service, store, pass } = await open([{ ...uploaded, plan: unpublished }]);
    service.videos.set('vid_1', { title: 'Clip', status: 'pending' });
    const asked = service.count('get');
    expect(asked).toBeGreaterThan(0);
    service.videos.set('vid_1', { title: 'Clip', status: 'processing' });
    await pass(400);
    expect(service.count('get')).toBe(asked + 1);
    expect(stateOf(store.row('f_0'))).toBe('done');
  });

  test('a feed is published once it was quiet for long enough, and what is done is put away', async () => {
    const world = outside([]);
    const now = world.clock.now();
    const { service, store, pass } = await open([{ ...ready, readyAt: now, afterReady: { kind: 'delete' } }]);
    expect(service.count('publish feed_news')).toBe(0);
    await pass(400);
    expect(service.count('publish feed_news')).toBe(1);
    expect(store.row('f_0')).toMatchObject({ end: 'done', disposal: 'deleted' });
  });
});
