import { describe, expect, test } from 'vitest';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { Failure } from '../../../src/pipeline/file/failure.ts';
import type { FileEvent } from '../../../src/pipeline/file/machine.ts';
import type { Answer, RemoteVideo } from '../../../src/pipeline/file/ports.ts';
import { createSweep } from '../../../src/pipeline/rounds/sweep.ts';
import type { PollTrouble } from '../../../src/pipeline/rounds/sweep.ts';
import { MemoryStore } from '../memory-store.ts';
import { recordingLogger } from '../silent-logger.ts';
import { failure, someFacts, somePlan, uploaded } from '../some-facts.ts';
import { someRoom } from '../some-room.ts';
import { TestClock } from '../test-clock.ts';

const live = new AbortController().signal;

const hourMs = 3_660_000;

/** A sweep over rows and a service in memory. Each question is one of 1,000 requests of the hour. */
function open(
  rows: readonly Facts[],
  answer: (id: string) => Answer<RemoteVideo>,
  poll = { intervalMs: 15_000, giveUpAfterMs: 86_400_000 },
) {
  const clock = new TestClock(10_000);
  const events: FileEvent[] = [];
  const noted: Failure[] = [];
  const receipts: string[] = [];
  const logger = recordingLogger();
  const world = {
    applies: true,
    asked: 0,
    list: null as Failure | null,
    /** Videos that the list shows. */
    listed: [] as readonly string[],
    wanted: { creates: 0, publishes: 0 },
    /** By others. */
    used: 0,
  };
  const store = new MemoryStore(rows);
  const spent: number[] = [];
  const rings: number[] = [];
  const spend = (): void => void spent.push(clock.elapsed());
  const sweeper = createSweep({
    store,
    library: {
      list: async () => {
        spend();
        if (world.list !== null) return { ok: false, failure: world.list };
        const videos = world.listed.flatMap((id) => {
          const listed = answer(id);
          return listed.ok ? [{ id, status: listed.value.status }] : [];
        });
        return { ok: true, value: { videos, perPage: 100, total: videos.length } };
      },
      get: (id) => {
        spend();
        world.asked += 1;
        return Promise.resolve(answer(id));
      },
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
    logger,
    settings: () => ({ poll }),
    room: () => someRoom(world.used + spent.filter((at) => at > clock.elapsed() - hourMs).length),
    wanted: async () => world.wanted,
    ringAt: (name, at) => {
      if (name === 'sweep') rings.push(at);
    },
    failed: async (why) => {
      noted.push(why);
      return why;
    },
  });
  return {
    ...sweeper,
    sweep: () => sweeper.run(live),
    clock,
    events,
    noted,
    receipts,
    logger,
    world,
    store,
    spent,
    rings,
  };
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

  test('passes on where the video is watched', async () => {
    const embedUrl = 'https://video.example.com/embed/vid_1';
    const { sweep, events } = open([processing], (id) => ({ ok: true, value: { id, status: 'ready', embedUrl } }));
    await sweep();
    expect(events).toEqual([{ type: 'REMOTE_STATUS', status: 'ready', embedUrl }]);
  });

  // What lies before the start is known by the wall clock only: the daemon was off for hours, or that clock was set.
  test('what was in processing before the start does not make those that follow wait', async () => {
    const hours = 12 * 3_600_000;
    const { sweep, events, clock, store } = open([{ ...processing, processingSince: 10_000 - hours }], says('ready'));
    await sweep();
    store.all.splice(0, 1);
    clock.advance(60_000);
    await store.insert({ ...processing, id: 'f_next', processingSince: clock.now() });
    for (let n = 0; n < 4; n += 1) {
      await sweep();
      clock.advance(15_000);
    }
    expect(events.length).toBeGreaterThan(1);
  });

  test('where the budget is short, those that follow one that took ten minutes are left alone for five', async () => {
    const { sweep, clock, store, world } = open([{ ...processing, processingSince: 10_000 }], (id) => says(word)(id));
    let word = 'processing';
    await sweep();
    clock.advance(600_000);
    word = 'ready';
    await sweep();
    store.all.splice(0, 1);
    world.used = 700;
    clock.advance(60_000);
    await store.insert({ ...processing, id: 'f_next', processingSince: clock.now() });
    const { asked } = world;
    for (let n = 0; n < 19; n += 1) {
      clock.advance(15_000);
      await sweep();
    }
    expect(world.asked).toBe(asked);
    clock.advance(15_000);
    await sweep();
    expect(world.asked).toBe(asked + 1);
  });

  // A clip after a film of two hours was not asked about for ten minutes, with 980 of 1,000 requests left.
  test('where the budget is short, a file with a deadline is polled once videos of its size have been ready, and less often after each fruitless poll', async () => {
    const due = { ...processing, plan: { ...somePlan, readyBy: { afterMs: 1 } } };
    const words = new Map<string, string>();
    const opened = open([{ ...processing, processingSince: 10_000 }], (id) => says(words.get(id) ?? 'processing')(id));
    const { sweep, clock, store, world, spent, fastestMs } = opened;
    await sweep();
    clock.advance(60_000);
    await sweep();
    clock.advance(15_000);
    words.set('vid_1', 'ready');
    await sweep();
    // It may have been ready since the poll before.
    expect([fastestMs(5_000), fastestMs(30_000), fastestMs(4_000)]).toEqual([60_000, null, null]);
    store.all.splice(0, 1);
    world.used = 940;
    const since = clock.now();
    for (const [n, facts] of [due, processing].entries())
      await store.insert({ ...facts, id: `f_${n}`, videoId: `vid_new_${n}`, processingSince: since });
    const before = spent.length;
    const course: number[] = [];
    for (let ms = 0; ms <= 300_000; ms += 5_000) {
      await sweep();
      course.push(spent.length - before);
      clock.advance(5_000);
    }
    // At 60 s, then after 36 s for its share of the budget, and after 60 and 120 s; the ordinary poll comes at 80 s.
    expect(course.flatMap((asked, n) => (asked > (course[n - 1] ?? 0) ? [5 * n] : []))).toEqual([
      60, 80, 100, 160, 280,
    ]);
    words.set('vid_new_0', 'ready');
    clock.advance(240_000);
    await sweep();
    expect(opened.events.at(-1)).toMatchObject({ type: 'REMOTE_STATUS', status: 'ready' });
    world.used = 1_000;
    const used = spent.length;
    clock.advance(600_000);
    await sweep();
    expect(spent.length).toBe(used);
  });

  // A ready file at every poll made polls that took the requests of the files that were still to be created.
  test('where the budget is short, files with a deadline get a tenth of it, even if each poll finds a ready one', async () => {
    const due = { ...processing, plan: { ...somePlan, readyBy: { afterMs: 1 } } };
    const { sweep, clock, store, world, spent } = open([due], says('ready'));
    world.used = 800;
    world.wanted = { creates: 1_000, publishes: 0 };
    for (let ms = 0; ms < hourMs; ms += 5_000) {
      store.all.splice(0);
      await store.insert({ ...due, id: `f_${ms}`, videoId: `vid_${ms}`, processingSince: clock.now() - 3_600_000 });
      await sweep();
      clock.advance(5_000);
    }
    expect(spent.length).toBeGreaterThan(60);
    expect(spent.length).toBeLessThanOrEqual(100 + 15);
  });

  test('while the budget is not short, a file with a deadline gets no poll of its own', async () => {
    const due = { ...processing, plan: { ...somePlan, readyBy: { afterMs: 1 } } };
    const { sweep, clock, spent } = open([{ ...due, processingSince: -3_600_000 }], says('processing'));
    for (let ms = 0; ms < 150_000; ms += 1_000) {
      await sweep();
      clock.advance(1_000);
    }
    expect(spent.length).toBe(10);
  });

  test('while the budget is not short, no file waits for what is usual', async () => {
    const { sweep, clock, store, world } = open([{ ...processing, processingSince: 10_000 }], says('ready'));
    clock.advance(600_000);
    await sweep();
    store.all.splice(0, 1);
    await store.insert({ ...processing, id: 'f_next', processingSince: clock.now() });
    clock.advance(15_000);
    await sweep();
    expect(world.asked).toBe(2);
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

  test('gives up after a day of our own time, but only on a video that was just reported', async () => {
    const { sweep, events, clock } = open([processing], says('processing'));
    await sweep();
    clock.advance(86_400_001);
    await sweep();
    expect(events).toEqual([{ type: 'GIVE_UP' }]);

    const away = open([processing], () => ({ ok: false, failure: failure('offline') }));
    await away.sweep();
    away.clock.advance(86_400_001);
    await away.sweep();
    expect(away.events).toEqual([]);
  });

  test('gives up on a video that the service can tell nothing about while it answers all else', async () => {
    const { sweep, events, clock } = open([processing], () => ({ ok: false, failure: failure('transient') }));
    await sweep();
    clock.advance(86_400_001);
    await sweep();
    expect(events).toEqual([{ type: 'GIVE_UP' }]);
  });

  // Ten days forward ended videos that became ready a minute later.
  test.each([
    [10 * 86_400_000, 'set forward'],
    [-10 * 86_400_000, 'set back'],
  ])('gives nothing up because the clock is set by %i ms', async (jump) => {
    const { sweep, events, clock } = open([processing], says('processing'));
    await sweep();
    clock.set(clock.now() + jump);
    clock.advance(3_600_000);
    await sweep();
    expect(events).toEqual([]);
    clock.advance(82_800_001);
    await sweep();
    expect(events).toEqual([{ type: 'GIVE_UP' }]);
  });

  test.each([10 * 86_400_000, -10 * 86_400_000])(
    'gives a file at least half of its time, and never more than all of it, after a restart with a clock that is off by %i ms',
    async (jump) => {
      const { sweep, events, clock } = open([processing], says('processing'));
      clock.set(clock.now() + jump);
      await sweep();
      clock.advance(43_000_000);
      await sweep();
      expect(events).toEqual([]);
      clock.advance(43_500_000);
      await sweep();
      expect(events).toEqual([{ type: 'GIVE_UP' }]);
    },
  );

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

  test('notifies the breaker when the service does not answer', async () => {
    const { sweep, noted } = open([processing], () => ({ ok: false, failure: failure('offline') }));
    await sweep();
    expect(noted).toEqual([failure('offline')]);
  });
});

describe('how soon a ready video is noticed', () => {
  const quick = { intervalMs: 2_000, giveUpAfterMs: 86_400_000 };

  /** Two files that the service processes, and so many that it fails; one becomes ready after a minute. */
  async function noticedAfterMs(failures: number, used: number, wanted = { creates: 0, publishes: 0 }) {
    const files = ['ready', 'slow', ...Array.from({ length: failures }, (_, n) => `bad_${n}`)].map((name) =>
      someFacts({ ...processing, id: `f_${name}`, videoId: name }),
    );
    const word = (id: string): string => {
      if (id.startsWith('bad_')) return 'failed';
      return id === 'ready' && opened.clock.elapsed() >= 60_000 ? 'ready' : 'processing';
    };
    const opened = open(files, (id) => says(word(id))(id), quick);
    opened.world.listed = files.map(({ videoId }) => videoId ?? '');
    opened.world.used = used;
    opened.world.wanted = wanted;
    const isNoticed = (): boolean =>
      opened.events.some((event) => event.type === 'REMOTE_STATUS' && event.status === 'ready');
    const said: (PollTrouble | null)[] = [];
    while (!isNoticed() && opened.clock.elapsed() < 7_200_000) {
      const { store, clock, sweep, trouble } = opened;
      await sweep();
      if (store.all.length > 2) store.all.splice(2);
      if (clock.elapsed() >= 60_000) said.push(trouble());
      clock.advance(250);
    }
    return { ms: opened.clock.elapsed() - 60_000, said };
  }

  // 20 questions in an hour, or 60 failed files, each asked about for its reason, made it 3 min 40 s and more at 84 of 1,000 requests.
  test.each([
    [0, 0],
    [25, 0],
    [60, 0],
    [0, 84],
    [60, 84],
    [0, 400],
  ])('within 1.5 intervals after %i failed files, with %i of 1,000 requests used', async (failures, used) => {
    const { ms, said } = await noticedAfterMs(failures, used);
    expect(ms).toBeLessThanOrEqual(3_000);
    expect(said.every((one) => one === null)).toBe(true);
  });

  test.each([
    ['600 requests are used', 600, { creates: 0, publishes: 0 }, 12_000],
    ['900 requests are used', 900, { creates: 0, publishes: 0 }, 60_000],
    ['all are wanted for other files', 0, { creates: 5_000, publishes: 1 }, 400_000],
  ])('later when %s, and says when and how many are left', async (_name, used, wanted, mostMs) => {
    const { ms, said } = await noticedAfterMs(0, used, wanted);
    expect(ms).toBeGreaterThan(3_000);
    expect(ms).toBeLessThan(mostMs);
    for (const one of said.slice(0, -1)) {
      expect(one).toMatchObject({ kind: 'budget', limit: 1_000, left: expect.any(Number) as number });
      expect(one?.kind === 'budget' && one.nextAt).toBeGreaterThan(10_000);
    }
  });

  // Each page of 100 ready videos is a hundredth of a request for each: more are not worth waiting an hour for.
  test('soon where the budget is short, if so many are likely to be ready that a page of the list is worth it', async () => {
    const files = Array.from({ length: 250 }, (_, n) =>
      someFacts({ ...processing, id: `f_${n}`, videoId: `vid_${n}`, processingSince: 10_000 }),
    );
    const opened = open(files, (id) => says(word)(id));
    let word = 'processing';
    opened.world.listed = files.map(({ videoId }) => videoId ?? '').toReversed();
    opened.world.wanted = { creates: 5_000, publishes: 1 };
    const pass = async (minutes: number): Promise<void> => {
      for (let n = 0; n < minutes * 4; n += 1) {
        await opened.sweep();
        opened.clock.advance(15_000);
      }
    };
    await pass(5);
    expect(opened.spent).toHaveLength(0);
    await pass(5);
    // One question that found none ready makes the next wait twice as long.
    expect(opened.spent).toHaveLength(1);
    word = 'ready';
    await pass(10);
    expect(opened.spent.length).toBeGreaterThanOrEqual(2);
    expect(opened.spent.length).toBeLessThanOrEqual(4);
    expect(opened.events.length).toBeGreaterThan(0);
  });

  test('without any tick of the loop: it says when it is to be run again', async () => {
    const { sweep, clock, rings, world } = open([processing], says('processing'), { ...quick, intervalMs: 700 });
    await sweep();
    expect(rings.at(-1)).toBe(clock.elapsed() + 700);
    clock.advance(700);
    await sweep();
    expect(world.asked).toBe(2);
  });

  test('at once when requests fall out of the hour, or the limit is raised', async () => {
    const { sweep, world, clock } = open([processing], says('processing'), quick);
    world.used = 980;
    await sweep();
    for (let n = 0; n < 60; n += 1) {
      clock.advance(1_000);
      await sweep();
    }
    const { asked } = world;
    expect(asked).toBeLessThanOrEqual(1);
    world.used = 0;
    clock.advance(1_000);
    await sweep();
    expect(world.asked).toBe(asked + 1);
  });
});

describe('a service that does not list videos', () => {
  const files = Array.from({ length: 30 }, (_, n) =>
    someFacts({ ...processing, id: `f_${n}`, videoId: `vid_${n}`, processingSince: 9_000 }),
  );

  test('is polled for each one by its id; the log says so once, and why shows it until it lists them again', async () => {
    const { sweep, trouble, clock, events, noted, logger, world } = open(files, says('ready'));
    world.list = failure('transient', { status: 500, inDoubt: true });
    await sweep();
    expect(events).toHaveLength(20);
    expect(trouble()).toMatchObject({ kind: 'no list', failure: { status: 500 } });
    clock.advance(3_600_000);
    await sweep();
    clock.advance(3_600_000);
    await sweep();
    expect(logger.lines.map(({ message }) => message)).toEqual([expect.stringContaining('Listing videos failed')]);
    expect(noted).toEqual([]);
    world.list = null;
    clock.advance(3_600_000);
    await sweep();
    expect(trouble()).toBeNull();
    expect(logger.lines.at(-1)).toMatchObject({ level: 'info', message: 'The service lists videos again' });
  });

  test('does not keep a file from being given up', async () => {
    const { sweep, clock, events, world } = open(files, says('processing'));
    world.list = failure('gone', { status: 404 });
    await sweep();
    clock.advance(86_400_001);
    for (let turn = 0; turn < 2; turn += 1) {
      await sweep();
      clock.advance(3_600_000);
    }
    expect(events.filter(({ type }) => type === 'GIVE_UP').length).toBeGreaterThanOrEqual(30);
  });

  test('is polled within about half of the hour in the long run', async () => {
    const { sweep, clock, world, spent } = open(files, says('processing'));
    world.list = failure('transient', { status: 500, inDoubt: true });
    for (let passed = 0; passed < 3 * 3_600_000; passed += 5_000) {
      await sweep();
      clock.advance(5_000);
    }
    const lastHour = spent.filter((at) => at > clock.elapsed() - 3_600_000).length;
    expect(lastHour).toBeGreaterThan(300);
    expect(lastHour).toBeLessThan(650);
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
    const rows = [someFacts({ ...uploaded, processingSince: 10_000 })];
    const { sweep, ring, world, clock } = open(rows, says('ready'));
    clock.advance(90_000);
    await sweep();
    world.used = 700;
    Object.assign(rows[0] ?? {}, { processingSince: clock.now() });
    clock.advance(30_000);
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

  test('uses about a quarter of the hour in the long run for as long as it rings', async () => {
    const { sweep, ring, spent, clock } = open([processing], says('processing'), hour);
    for (let passed = 0; passed < 2 * 3_600_000; passed += 500) {
      ring();
      await sweep();
      clock.advance(500);
    }
    const lastHour = spent.filter((at) => at > clock.elapsed() - 3_600_000).length;
    expect(lastHour).toBeGreaterThan(230);
    expect(lastHour).toBeLessThan(280);
  });
});
