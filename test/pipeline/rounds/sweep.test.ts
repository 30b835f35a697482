import { describe, expect, test } from 'vitest';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { Failure } from '../../../src/pipeline/file/failure.ts';
import type { FileEvent } from '../../../src/pipeline/file/machine.ts';
import type { Answer, RemoteVideo } from '../../../src/pipeline/file/ports.ts';
import { createSweep } from '../../../src/pipeline/rounds/sweep.ts';
import { MemoryStore } from '../memory-store.ts';
import { silentLogger } from '../silent-logger.ts';
import { failure, someFacts, uploaded } from '../some-facts.ts';
import { TestClock } from '../test-clock.ts';

const live = new AbortController().signal;

function open(
  rows: readonly Facts[],
  answer: (id: string) => Answer<RemoteVideo>,
  poll = { intervalMs: 15_000, giveUpAfterMs: 86_400_000 },
) {
  const clock = new TestClock(10_000);
  const events: FileEvent[] = [];
  const noted: Failure[] = [];
  const receipts: string[] = [];
  const world = { applies: true, asked: 0 };
  const sweeper = createSweep({
    store: new MemoryStore(rows),
    library: {
      list: () => Promise.resolve({ ok: true, value: { videos: [], perPage: 100, total: 0 } }),
      get: (id) => {
        world.asked += 1;
        return Promise.resolve(answer(id));
      },
      publish: () => Promise.reject(new Error('not asked for')),
    },
    receipts: {
      append: async (step) => {
        receipts.push(step);
      },
    },
    runner: {
      apply: async (_id, event) => {
        if (!world.applies) throw new Error('disk full');
        events.push(event);
        return 'applied';
      },
    },
    clock,
    logger: silentLogger,
    settings: () => ({ poll, requestsPerHour: 1_000 }),
    failed: (_id, why) => noted.push(why),
  });
  return { sweep: () => sweeper.run(live), ring: sweeper.ring, clock, events, noted, receipts, world };
}

const says = (status: string) => (id: string) => ({ ok: true, value: { id, status } }) as const;
const processing = someFacts({ ...uploaded, processingSince: 9_000 });

describe('the sweep', () => {
  test('hands a new word on, and a receipt for ready', async () => {
    const { sweep, events, receipts } = open([processing], says('ready'));
    await sweep();
    expect(events).toEqual([{ type: 'REMOTE_STATUS', status: 'ready' }]);
    expect(receipts).toEqual(['ready']);
  });

  test('hands nothing on while the word is the same', async () => {
    const { sweep, events } = open([processing], says('processing'));
    await sweep();
    expect(events).toEqual([]);
  });

  // The status that is asked before a repeated upload may already be the last word.
  test.each(['ready', 'failed'])('hands %s on though the row knows the word', async (status) => {
    const { sweep, events } = open([someFacts({ ...processing, remoteStatus: status })], says(status));
    await sweep();
    expect(events).toEqual([{ type: 'REMOTE_STATUS', status }]);
  });

  test('tells a file whose video is gone', async () => {
    const { sweep, events } = open([processing], () => ({ ok: false, failure: failure('gone') }));
    await sweep();
    expect(events).toEqual([{ type: 'REMOTE_GONE' }]);
  });

  test('gives up after a day, but only on a video that was just reported', async () => {
    const { sweep, events, clock } = open([processing], says('processing'));
    clock.advance(86_400_001);
    await sweep();
    expect(events).toEqual([{ type: 'GIVE_UP' }]);

    const unseen = open([processing], () => ({ ok: false, failure: failure('transient') }));
    unseen.clock.advance(86_400_001);
    await unseen.sweep();
    expect(unseen.events).toEqual([]);
  });

  test('waits its interval, and asks nothing while nothing is in processing', async () => {
    const { sweep, clock, world } = open([processing], says('processing'));
    await sweep();
    await sweep();
    expect(world.asked).toBe(1);
    clock.advance(15_000);
    await sweep();
    expect(world.asked).toBe(2);

    const idle = open([], says('ready'));
    await idle.sweep();
    expect(idle.world.asked).toBe(0);
  });

  test('waits its interval also when an answer could not be written down', async () => {
    const { sweep, clock, world } = open([processing], says('ready'));
    world.applies = false;
    await expect(sweep()).rejects.toThrow('disk full');
    await sweep();
    expect(world.asked).toBe(1);
    clock.advance(15_000);
    await expect(sweep()).rejects.toThrow('disk full');
  });

  test('tells the breaker when the service does not answer', async () => {
    const { sweep, noted } = open([processing], () => ({ ok: false, failure: failure('offline') }));
    await sweep();
    expect(noted).toEqual([failure('offline')]);
  });

  test('learns how long processing takes, and asks later next time', async () => {
    const rows = [someFacts({ ...uploaded, processingSince: 0 })];
    const store = open(rows, says('ready'));
    store.clock.advance(90_000);
    await store.sweep();
    // A hundred seconds was usual: the file now counts from this moment.
    Object.assign(rows[0] ?? {}, { processingSince: store.clock.now() });
    store.clock.advance(20_000);
    await store.sweep();
    expect(store.world.asked).toBe(1);
    store.clock.advance(45_000);
    await store.sweep();
    expect(store.world.asked).toBe(2);
  });
});

describe('the doorbell', () => {
  const hour = { intervalMs: 3_600_000, giveUpAfterMs: 86_400_000 };

  test('lets it ask at once, though its interval is not over', async () => {
    const { sweep, ring, world, clock } = open([processing], says('processing'), hour);
    await sweep();
    clock.advance(1_000);
    await sweep();
    expect(world.asked).toBe(1);
    ring();
    await sweep();
    expect(world.asked).toBe(2);
    await sweep();
    expect(world.asked).toBe(2);
  });

  test('many rings are one sweep a second', async () => {
    const { sweep, ring, world, clock } = open([processing], says('processing'), hour);
    for (let passed = 0; passed < 10_000; passed += 100) {
      ring();
      await sweep();
      clock.advance(100);
    }
    expect(world.asked).toBe(10);
  });

  test('a ring while it asks is answered by a further sweep', async () => {
    let ringOnce: (() => void) | undefined;
    const { sweep, ring, world, clock } = open([processing], (id) => (ringOnce?.(), says('processing')(id)), hour);
    ringOnce = () => {
      ring();
      ringOnce = undefined;
    };
    await sweep();
    clock.advance(1_000);
    await sweep();
    await sweep();
    expect(world.asked).toBe(2);
  });

  test('does not wait half the usual time of processing either', async () => {
    const rows = [someFacts({ ...uploaded, processingSince: 0 })];
    const { sweep, ring, world, clock } = open(rows, says('ready'));
    clock.advance(90_000);
    await sweep();
    Object.assign(rows[0] ?? {}, { processingSince: clock.now() });
    clock.advance(15_000);
    await sweep();
    expect(world.asked).toBe(1);
    ring();
    await sweep();
    expect(world.asked).toBe(2);
  });

  test('asks nothing while nothing is in processing, and then about the file that it was early for', async () => {
    const rows = [someFacts({ ...uploaded, processingSince: 9_000 }), someFacts({ id: 'f_2' })];
    const { sweep, ring, world, clock } = open(rows, says('processing'), hour);
    await sweep();
    clock.advance(60_000);
    ring();
    await sweep();
    expect(world.asked).toBe(2);
    clock.advance(5_000);
    await sweep();
    expect(world.asked).toBe(2);
    Object.assign(rows[1] ?? {}, { ...uploaded, videoId: 'vid_2', processingSince: clock.now() });
    clock.advance(1);
    await sweep();
    expect(world.asked).toBe(4); // both, by id: the list shows none
    clock.advance(1_000);
    await sweep();
    expect(world.asked).toBe(4);
  });

  test('uses at most a quarter of the hour for as long as it rings', async () => {
    const { sweep, ring, world, clock } = open([processing], says('processing'), hour);
    for (let passed = 0; passed < 3_600_000; passed += 500) {
      ring();
      await sweep();
      clock.advance(500);
    }
    expect(world.asked).toBeGreaterThan(250);
    expect(world.asked).toBeLessThan(280);
  });
});
