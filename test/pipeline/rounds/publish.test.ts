import { describe, expect, test } from 'vitest';
import { createPublish, dueInMs, publishAtMostMs } from '../../../src/pipeline/rounds/publish.ts';
import type { Applied } from '../../../src/pipeline/steps/runner.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { FileEvent } from '../../../src/pipeline/file/machine.ts';
import type { Answer } from '../../../src/pipeline/file/ports.ts';
import { after, recordingEvents } from '../held-rows.ts';
import { MemoryStore } from '../memory-store.ts';
import { failure, ready, someFacts, somePlan, uploaded } from '../some-facts.ts';
import { someRoom } from '../some-room.ts';
import { TestClock } from '../test-clock.ts';

const live = new AbortController().signal;
const quiet = { quietMs: 10_000, atMostMs: 120_000 };
const at = 1_000_000;

function readyFile(n: number, other: Partial<Facts> = {}): Facts {
  return someFacts({ ...ready, id: `f_${n}`, videoId: `vid_${n}`, readyAt: at, ...other });
}

interface World {
  answer(): Promise<Answer<{ readonly videos: number | null } | null>>;
  publish(feed: string): ReturnType<World['answer']>;
  room: ReturnType<typeof someRoom>;
  wanted: { creates: number; publishes: number };
}

function open(rows: readonly Facts[]) {
  const clock = new TestClock(at);
  const store = new MemoryStore(rows);
  const asked: string[] = [];
  const busy = new Set<string>();
  const world: World = {
    answer: async () => ({ ok: true, value: null }),
    publish: () => world.answer(),
    room: someRoom(),
    wanted: { creates: 0, publishes: 0 },
  };
  const policy = { attempts: 3, retryAt: () => 0, now: () => clock.now() };
  const start = () =>
    createPublish({
      store,
      library: {
        publish: (feed) => {
          asked.push(feed);
          return world.publish(feed);
        },
      },
      runner: {
        apply: async (id: string, event: FileEvent): Promise<Applied> => {
          if (busy.has(id)) return 'busy';
          await store.save(after(store.row(id), event, policy));
          return 'applied';
        },
      },
      clock,
      events: recordingEvents(),
      room: () => world.room,
      wanted: async () => world.wanted,
      timing: () => ({ ...quiet, retry: { attempts: 3, firstMs: 1_000, maxMs: 1_000 } }),
    });
  let publisher = start();
  return {
    clock,
    store,
    asked,
    busy,
    world,
    run: () => publisher.run(live),
    publishNow: (feed: string) => publisher.now(feed),
    restart: () => (publisher = start()),
    waits: () => publisher.waits(),
    dueInMs: () => publisher.dueAt() - clock.elapsed(),
  };
}

describe('a feed is due', () => {
  test.each([
    ['at the latest time while more are on their way', 0, 0, 60_000, true, 60_000],
    ['now after the longest wait, more or not', 0, 50_000, 120_000, true, 0],
    ['when it is quiet', 0, 5_000, 14_999, false, 1],
    ['now when it was quiet', 0, 5_000, 15_000, false, 0],
    ['at the latest time though it is not quiet', 0, 119_000, 119_000, false, 1_000],
    ['now when the clock was set back', 100_000, 100_000, 50_000, true, 0],
  ])('%s', (_name, firstReadyAt, lastReadyAt, now, isExpecting, expected) => {
    expect(dueInMs({ firstReadyAt, lastReadyAt }, now, isExpecting, quiet)).toBe(expected);
  });
});

describe('the publisher', () => {
  test('publishes a feed once for all files that are ready', async () => {
    const { run, clock, asked, store } = open([readyFile(1), readyFile(2), readyFile(3)]);
    await run();
    expect(asked).toEqual([]);
    clock.advance(10_000);
    await run();
    await run();
    expect(asked).toEqual(['feed_news']);
    expect(store.states()).toEqual(['done', 'done', 'done']);
  });

  test('publishes each feed of its files once', async () => {
    const both = { plan: { ...somePlan, publish: ['feed_news', 'feed_tv'] } };
    const { run, clock, asked, store } = open([readyFile(1, both), readyFile(2)]);
    clock.advance(10_000);
    await run();
    expect(asked.toSorted()).toEqual(['feed_news', 'feed_tv']);
    expect(store.states()).toEqual(['done', 'done']);
  });

  test('leaves a file that becomes ready during the request to the next one', async () => {
    const { run, clock, asked, store, world } = open([readyFile(1)]);
    clock.advance(10_000);
    world.answer = async () => {
      await store.insert(readyFile(2, { readyAt: clock.now() }));
      return { ok: true, value: null };
    };
    await run();
    expect(store.states()).toEqual(['done', 'awaiting publish']);
    clock.advance(10_000);
    await run();
    expect(asked).toEqual(['feed_news', 'feed_news']);
  });

  test('waits for files that are still on their way, but not for ever', async () => {
    const { run, clock, asked, store } = open([readyFile(1), someFacts({ ...uploaded, id: 'f_2' })]);
    clock.advance(119_999);
    await run();
    expect(asked).toEqual([]);
    clock.advance(1);
    await run();
    expect(store.states()).toEqual(['done', 'processing']);
  });

  test('does not publish again for a file that was busy at the time', async () => {
    const { run, clock, asked, busy, store } = open([readyFile(1), readyFile(2)]);
    clock.advance(10_000);
    busy.add('f_2');
    await run();
    await run();
    expect(store.states()).toEqual(['done', 'awaiting publish']);
    busy.clear();
    await run();
    expect(asked).toEqual(['feed_news']);
    expect(store.states()).toEqual(['done', 'done']);
    expect(store.row('f_2').published).toEqual({ feed_news: at + 10_000 });
  });

  test('tries again with backoff, and fails the files when a feed never takes it', async () => {
    const { run, clock, asked, world, store } = open([readyFile(1)]);
    world.answer = async () => ({ ok: false, failure: failure('transient', { status: 500 }) });
    clock.advance(10_000);
    await run();
    await run();
    expect(asked).toHaveLength(1);
    for (let n = 0; n < 2; n += 1) {
      clock.advance(1_000);
      await run();
    }
    expect(asked).toHaveLength(3);
    expect(store.row()).toMatchObject({ end: 'failed', why: 'it was transient' });
  });

  test('an outage never fails the files', async () => {
    const { run, clock, asked, world, store } = open([readyFile(1)]);
    world.answer = async () => ({ ok: false, failure: failure('offline') });
    for (let n = 0; n < 20; n += 1) {
      clock.advance(20_000);
      await run();
    }
    expect(asked).toHaveLength(20);
    expect(store.states()).toEqual(['awaiting publish']);
  });

  test('a feed that the service does not know is a mistake in the configuration', async () => {
    const { run, clock, world, store } = open([readyFile(1)]);
    world.answer = async () => ({ ok: false, failure: failure('gone') });
    clock.advance(10_000);
    await run();
    expect(store.row()).toMatchObject({ end: 'failed', why: expect.stringContaining('feed_news') });
  });
});

describe('a feed that waits', () => {
  test('that the service does not have is in the row of each file that waits for it, and no longer once it is published', async () => {
    const two = { plan: { ...somePlan, publish: ['feed_gone', 'feed_lost'] } };
    const opened = open([readyFile(1, two), readyFile(2, two)]);
    const { world, run, clock, store } = opened;
    const missing = () => store.all.map(({ lastFailure }) => lastFailure?.feed ?? null);
    world.publish = async (feed) => ({
      ok: false,
      failure: failure('suspended', { code: 'unknown_feed', feed, message: `the service has no feed "${feed}"` }),
    });
    clock.advance(20_000);
    await run();
    expect(missing()).toEqual(['feed_lost', 'feed_lost']);
    expect(store.states()).toEqual(['awaiting publish', 'awaiting publish']);
    store.all.push(readyFile(3, two));
    const written = store.all.map(({ rev }) => rev);
    // It backs off: what came meanwhile waits for it too, and nothing is written twice.
    await run();
    await run();
    expect(missing()).toEqual(['feed_lost', 'feed_lost', 'feed_lost']);
    expect(store.all.slice(0, 2).map(({ rev }) => rev)).toEqual(written.slice(0, 2));
    const gone = world.publish;
    world.publish = async (feed) => (feed === 'feed_lost' ? { ok: false, failure: failure('transient') } : gone(feed));
    clock.advance(400_000);
    await run();
    await run();
    expect(missing()).toEqual(['feed_gone', 'feed_gone', 'feed_gone']);
    world.publish = async () => ({ ok: true, value: null });
    clock.advance(400_000);
    await run();
    expect([missing(), store.states()]).toEqual([
      [null, null, null],
      ['done', 'done', 'done'],
    ]);
  });

  test('is checked again without any tick: when it is due, and when it is retried', async () => {
    const { run, clock, world, dueInMs: nextMs } = open([readyFile(1)]);
    await run();
    expect(nextMs()).toBe(10_000);
    world.answer = async () => ({ ok: false, failure: failure('transient', { retryAfterMs: 60_000 }) });
    clock.advance(10_000);
    await run();
    expect(nextMs()).toBeGreaterThanOrEqual(60_000);
    world.answer = async () => ({ ok: true, value: null });
    clock.advance(60_000);
    await run();
    expect(nextMs()).toBe(Infinity);
  });

  test('says when it is published at the latest', async () => {
    const { run, waits } = open([readyFile(1), someFacts({ ...uploaded, id: 'f_2' })]);
    expect(waits()).toEqual([]);
    await run();
    expect(waits()).toEqual([
      { feed: 'feed_news', files: 1, latestAt: at + 120_000, since: at, failure: null, nextTryAt: null },
    ]);
  });

  test('says why it could not be published, and when it is tried again, until it is', async () => {
    const { run, waits, clock, world } = open([readyFile(1)]);
    const { answer } = world;
    world.answer = async () => ({ ok: false, failure: failure('transient', { status: 500, retryAfterMs: 60_000 }) });
    clock.advance(10_000);
    await run();
    expect(waits()).toMatchObject([{ failure: { status: 500 }, nextTryAt: clock.now() + 60_000 }]);
    clock.advance(30_000);
    await run();
    expect(waits()).toMatchObject([{ failure: { status: 500 }, nextTryAt: clock.now() + 30_000 }]);
    world.answer = answer;
    clock.advance(30_000);
    await run();
    await run();
    expect(waits()).toEqual([]);
  });
});

describe('where more records are wanted than the hour has requests', () => {
  const many = { creates: 5_000, publishes: 1 };

  test.each([
    [someRoom(), { creates: 0, publishes: 1 }, 120_000],
    [someRoom(), { creates: 900, publishes: 1 }, 120_000],
    [someRoom(), many, 720_000],
    [someRoom(), { ...many, publishes: 2 }, 1_440_000],
    [someRoom(), { ...many, publishes: 20 }, 1_800_000],
    [someRoom(995), { creates: 0, publishes: 1 }, 720_000],
    [someRoom(0, 100), { creates: 90, publishes: 1 }, 120_000],
    [someRoom(0, 100), many, 1_800_000],
    [someRoom(0, 100_000), { creates: 1_000_000, publishes: 1 }, 120_000],
  ])('of %j with %j wanted, the first file of a feed waits %i ms at most', (room, wanted, expected) => {
    expect(publishAtMostMs(120_000, room, wanted)).toBe(expected);
  });

  test('a feed is published less often, and as ever once nothing more is expected', async () => {
    const { run, clock, asked, world, store } = open([readyFile(1), someFacts({ ...uploaded, id: 'f_2' })]);
    world.wanted = many;
    clock.advance(719_999);
    await run();
    expect(asked).toEqual([]);
    clock.advance(1);
    await run();
    expect(asked).toEqual(['feed_news']);
    await store.save({ ...store.row('f_2'), ...ready, readyAt: clock.now() });
    clock.advance(10_000);
    await run();
    expect(asked).toHaveLength(2);
  });
});

describe('a feed that a person wants to be published', () => {
  test('is published at once, with the files that wait for it, and with one request', async () => {
    const { run, publishNow, asked, store, world } = open([readyFile(1)]);
    world.answer = async () => ({ ok: true, value: { videos: 7 } });
    const { answer } = await publishNow('feed_news');
    await run();
    expect(await answer).toEqual({ ok: true, files: 1, videos: 7 });
    expect([asked, store.states(), await store.feedsDue()]).toEqual([['feed_news'], ['done'], []]);
    await run();
    expect(asked).toEqual(['feed_news']);
  });

  test('is published although no file waits for it', async () => {
    const { run, publishNow, asked } = open([]);
    const { answer } = await publishNow('feed_news');
    await run();
    expect([asked, await answer]).toEqual([['feed_news'], { ok: true, files: 0, videos: null }]);
  });

  test('by two people at the same moment is published once, and both are answered', async () => {
    const { run, publishNow, asked } = open([]);
    const both = [await publishNow('feed_news'), await publishNow('feed_news')];
    await run();
    expect(await Promise.all(both.map(({ answer }) => answer))).toMatchObject([{ ok: true }, { ok: true }]);
    expect(asked).toEqual(['feed_news']);
  });

  test('during a request is published once more: what changed since may not be in it', async () => {
    const { run, publishNow, asked, world, store } = open([]);
    const first = await publishNow('feed_news');
    let second: Awaited<ReturnType<typeof publishNow>> | null = null;
    world.answer = async () => {
      world.answer = async () => ({ ok: true, value: null });
      second = await publishNow('feed_news');
      return { ok: true, value: null };
    };
    await run();
    await first.answer;
    expect(await store.feedsDue()).toHaveLength(1);
    await run();
    expect(await (second as unknown as typeof first).answer).toMatchObject({ ok: true });
    expect(asked).toEqual(['feed_news', 'feed_news']);
  });

  test('is published after a restart when it was not before', async () => {
    const { run, publishNow, asked, restart } = open([]);
    await publishNow('feed_news');
    restart();
    await run();
    expect(asked).toEqual(['feed_news']);
  });

  test('is not forgotten when the service is away, and not tried again when it knows no such feed', async () => {
    const { run, publishNow, world, clock, store, asked } = open([]);
    world.answer = async () => ({ ok: false, failure: failure('offline') });
    const { answer } = await publishNow('feed_news');
    await run();
    expect(await answer).toMatchObject({ ok: false, failure: { kind: 'offline' }, nextTryAt: expect.any(Number) });
    expect(await store.feedsDue()).toHaveLength(1);
    world.answer = async () => ({ ok: false, failure: failure('gone') });
    clock.advance(600_000);
    await run();
    expect([asked.length, await store.feedsDue()]).toEqual([2, []]);
  });

  test('does not wait for the next try of one that failed before', async () => {
    const { run, publishNow, world, asked } = open([readyFile(1)]);
    world.answer = async () => ({ ok: false, failure: failure('transient') });
    await publishNow('feed_news');
    await run();
    world.answer = async () => ({ ok: true, value: null });
    await run();
    expect(asked).toHaveLength(1);
    await publishNow('feed_news');
    await run();
    expect(asked).toHaveLength(2);
  });
});

test('a feed whose videos have changed is published when it is quiet, as for files that wait', async () => {
  const { run, clock, store, asked } = open([]);
  await store.noteFeedDue('feed_news', clock.now(), false);
  await run();
  clock.advance(quiet.quietMs - 1);
  await store.noteFeedDue('feed_news', clock.now(), false);
  clock.advance(1);
  await run();
  expect(asked).toEqual([]);
  clock.advance(quiet.quietMs);
  await run();
  expect([asked, await store.feedsDue()]).toEqual([['feed_news'], []]);
});
