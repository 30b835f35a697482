import { describe, expect, test, vi } from 'vitest';
import type { Config, Expectation } from '../../../src/config/config.ts';
import { createEventStream } from '../../../src/daemon/events.ts';
import { createExpectations } from '../../../src/daemon/expectations/expectations.ts';
import { expectationWords } from '../../../src/view/words/picture-words.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { silentLogger } from '../../pipeline/silent-logger.ts';
import { someFacts } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';

const evening: Expectation = {
  match: 'evening/*.mp4',
  by: 18 * 60 + 30,
  from: 0,
  days: [1, 2, 3, 4, 5],
  count: 1,
  zone: 'Europe/Berlin',
  until: 'live',
  graceMs: 0,
};
const utc = (text: string): number => Date.parse(`${text}Z`);

/** Expectations on a real ledger, with a clock that only moves when told. */
async function folderThatExpects(directory: string, start: string, expect: readonly Expectation[] = [evening]) {
  const stack = new AsyncDisposableStack();
  const ledger = stack.use(await openLedger(directory));
  const events = createEventStream(silentLogger);
  const world = {
    now: utc(start),
    config: { folders: [{ path: '/in', expect }] } as unknown as Config,
    /** After the ledger has read the files of a day, and before it is known what they are: may wait, or fail. */
    onceRead: async (): Promise<void> => undefined,
    /** How long a file needs at least, by id. */
    needsMs: {} as Readonly<Record<string, number>>,
  };
  const told: string[] = [];
  const expectations = stack.use(
    createExpectations({
      ledger: {
        ...ledger,
        rows: async (wanted) => {
          const found = await ledger.rows(wanted);
          if (wanted.group === 'came in') await world.onceRead();
          return found;
        },
      },
      events,
      config: () => world.config,
      logger: silentLogger,
      now: () => world.now,
      earliest: (due) =>
        new Map(due.map(({ id }) => [id, { inMs: world.needsMs[id] ?? 0, because: 'processing', bytes: 0 }])),
      deadlines: { list: () => [], refresh: async () => undefined },
      changed: ({ day, state }) => told.push(`${day} ${state}`),
    }),
  );
  const write = async (id: string, change: Partial<Facts>): Promise<void> => {
    const [known = null] = await ledger.find(id);
    const fresh = someFacts({ id, folder: '/in', path: `evening/${id}.mp4`, discoveredAt: world.now, ...change });
    const facts = known === null ? fresh : { ...known, ...change };
    if (known === null) await ledger.insert(facts);
    else await ledger.save(facts);
    events.emit({ type: 'file', before: known, facts, note: null });
  };
  await expectations.refresh();
  return {
    ledger,
    world,
    told,
    expectations,
    write,
    states: () => expectations.list().map(({ day, state }) => `${day} ${state}`),
    at: async (moment: string): Promise<void> => {
      world.now = utc(moment);
      await expectations.refresh();
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

describe('what a folder expects', () => {
  test('a day on which it comes, a day on which it is late, a day on which it is missing, and the weekend', async () => {
    await using scratch = await scratchDirectory();
    await using here = await folderThatExpects(scratch.path, '2026-11-18T08:00');
    expect(here.states()).toEqual(['2026-11-18 expected']);
    await here.write('f_wed', {});
    expect(here.states()).toEqual(['2026-11-18 arrived']);
    await here.write('f_wed', { end: 'done', endedAt: utc('2026-11-18T09:00') });
    await here.at('2026-11-18T18:00');
    expect(here.states()).toEqual(['2026-11-18 live']);

    await here.at('2026-11-19T17:30');
    expect(here.states()).toEqual(['2026-11-19 expected']);
    await here.at('2026-11-19T17:31');
    expect(here.states()).toEqual(['2026-11-19 missing']);
    await here.write('f_thu', {});
    await here.at('2026-11-19T17:45');
    expect(here.states()).toEqual(['2026-11-19 late']);
    await here.write('f_thu', { end: 'done', endedAt: utc('2026-11-19T17:46') });
    await here.at('2026-11-19T18:00');
    expect(here.states()).toEqual(['2026-11-19 recovered']);

    await here.at('2026-11-20T18:00');
    await here.at('2026-11-22T12:00');
    expect(here.states()).toEqual(['2026-11-20 missing']);
    await here.at('2026-11-22T23:00');
    expect(here.states()).toEqual(['2026-11-23 expected']);
    expect(here.told).toEqual(['2026-11-19 missing', '2026-11-19 late', '2026-11-19 recovered', '2026-11-20 missing']);
  });

  test('other files, files of another folder and files that are gone do not count', async () => {
    await using scratch = await scratchDirectory();
    await using here = await folderThatExpects(scratch.path, '2026-11-18T08:00');
    await here.write('f_1', { path: 'morning/a.mp4' });
    await here.write('f_2', { folder: '/elsewhere' });
    await here.write('f_3', {});
    await here.write('f_3', { end: 'vanished', endedAt: 1 });
    expect(here.states()).toEqual(['2026-11-18 expected']);
    await here.write('f_1', { path: 'evening/renamed.mp4' });
    expect(here.states()).toEqual(['2026-11-18 arrived']);
  });

  test('a file that vanishes and comes back counts again', async () => {
    await using scratch = await scratchDirectory();
    await using here = await folderThatExpects(scratch.path, '2026-11-18T08:00');
    await here.write('f_1', {});
    await here.write('f_1', { end: 'vanished', endedAt: 1 });
    expect(here.states()).toEqual(['2026-11-18 expected']);
    await here.write('f_1', { end: null, endedAt: null });
    expect(here.states()).toEqual(['2026-11-18 arrived']);
  });

  test('a file that arrived while the clock was ahead does not count for every day until then', async () => {
    await using scratch = await scratchDirectory();
    await using here = await folderThatExpects(scratch.path, '2026-11-18T08:00');
    await here.at('2026-12-16T08:00');
    await here.write('f_1', {});
    expect(here.states()).toEqual(['2026-12-16 arrived']);
    await here.at('2026-11-18T08:10');
    expect(here.states()).toEqual(['2026-11-18 expected']);
    await here.at('2026-11-19T08:00');
    expect(here.states()).toEqual(['2026-11-19 expected']);
  });

  test('a file of an earlier day counts for no later one, whatever happens to it; one that came as the day began does', async () => {
    await using scratch = await scratchDirectory();
    await using here = await folderThatExpects(scratch.path, '2026-11-18T08:00');
    await here.write('f_1', {});
    await here.at('2026-11-18T23:00');
    await here.write('f_1', { path: 'evening/renamed.mp4', end: 'done', endedAt: utc('2026-11-18T23:00') });
    expect(here.states()).toEqual(['2026-11-19 expected']);
    await here.write('f_2', {});
    expect(here.states()).toEqual(['2026-11-19 arrived']);
  });

  test('a file that fails is there, and not live', async () => {
    await using scratch = await scratchDirectory();
    await using here = await folderThatExpects(scratch.path, '2026-11-18T08:00');
    await here.write('f_1', { end: 'failed', endedAt: utc('2026-11-18T08:01') });
    await here.at('2026-11-18T20:00');
    expect(here.states()).toEqual(['2026-11-18 late']);
  });

  test('two folders with the same expectation, and a folder with two, are independent', async () => {
    await using scratch = await scratchDirectory();
    const noon: Expectation = { ...evening, by: 12 * 60 };
    await using here = await folderThatExpects(scratch.path, '2026-11-18T08:00', [evening, noon]);
    here.world.config = {
      folders: [
        { path: '/in', expect: [evening, noon] },
        { path: '/other', expect: [evening] },
      ],
    } as unknown as Config;
    await here.at('2026-11-18T12:00');
    await here.write('f_1', {});
    await here.at('2026-11-18T20:00');
    expect(here.states()).toEqual(['2026-11-18 late', '2026-11-18 late', '2026-11-18 missing']);
    expect(here.told).toEqual(['2026-11-18 missing', '2026-11-18 late', '2026-11-18 late', '2026-11-18 missing']);
  });

  test('a reload while it is missing or late tells nothing twice', async () => {
    await using scratch = await scratchDirectory();
    await using here = await folderThatExpects(scratch.path, '2026-11-18T20:00');
    const reload = async (moment: string): Promise<void> => {
      here.world.config = { folders: [{ path: '/in', expect: [{ ...evening }] }] } as unknown as Config;
      await here.at(moment);
    };
    await reload('2026-11-18T20:01');
    await here.write('f_1', {});
    await reload('2026-11-18T20:02');
    await reload('2026-11-18T20:03');
    expect(here.told).toEqual(['2026-11-18 missing', '2026-11-18 late']);
  });

  test('a restart forgets nothing, not even a file that was moved since', async () => {
    await using scratch = await scratchDirectory();
    {
      await using here = await folderThatExpects(scratch.path, '2026-11-18T08:00', [{ ...evening, count: 2 }]);
      await here.write('f_moved', { afterReady: { kind: 'move', to: 'done' } });
      await here.write('f_moved', {
        end: 'done',
        endedAt: utc('2026-11-18T08:05'),
        disposal: 'moved',
        path: 'done/x.mp4',
      });
      await here.write('f_kept', {});
      expect(here.expectations.list()).toMatchObject([{ arrived: 2, live: 1, state: 'arrived' }]);
    }
    for (const start of ['2026-11-18T18:00', '2026-11-18T18:01']) {
      await using here = await folderThatExpects(scratch.path, start, [{ ...evening, count: 2 }]);
      expect(here.expectations.list()).toMatchObject([{ arrived: 2, live: 1, state: 'late' }]);
      expect(here.told).toEqual(['2026-11-18 late']);
    }
  });

  test('moved files of a day long past are forgotten once newer ones have come', async () => {
    await using scratch = await scratchDirectory();
    await using here = await folderThatExpects(scratch.path, '2026-11-18T08:00');
    await here.write('f_moved', { afterReady: { kind: 'move', to: 'done' } });
    const [{ key } = { key: '' }] = here.expectations.list();
    // A clock that is set forward makes nothing old.
    for (const moment of ['2026-11-26T08:00', '2026-12-28T08:00', '2026-11-27T08:00']) {
      await here.at(moment);
      expect(await here.ledger.countedFiles(key, 0)).toEqual(['f_moved']);
    }
    await here.at('2026-11-30T08:00');
    await here.write('f_next', { afterReady: { kind: 'move', to: 'done' } });
    await here.at('2026-12-01T08:00');
    expect(await here.ledger.countedFiles(key, 0)).toEqual(['f_next']);
  });

  test('a restart tells nothing of what came too late before it, and counts no file that does not match', async () => {
    await using scratch = await scratchDirectory();
    {
      await using here = await folderThatExpects(scratch.path, '2026-11-18T18:00');
      await here.write('f_1', { end: 'done', endedAt: utc('2026-11-18T18:01') });
      await here.write('f_2', { path: 'morning/a.mp4' });
    }
    await using here = await folderThatExpects(scratch.path, '2026-11-18T19:00');
    expect(here.expectations.list()).toMatchObject([{ arrived: 1, state: 'recovered' }]);
    expect(here.told).toEqual([]);
  });

  test('a machine that sleeps from one evening to the next says of both days what is missing', async () => {
    await using scratch = await scratchDirectory();
    await using here = await folderThatExpects(scratch.path, '2026-11-18T20:00');
    await here.at('2026-11-19T20:00');
    expect(here.told).toEqual(['2026-11-18 missing', '2026-11-19 missing']);
  });

  test('is looked at every few seconds, until the daemon stops', async () => {
    await using scratch = await scratchDirectory();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const before = vi.getTimerCount();
      await using here = await folderThatExpects(scratch.path, '2026-11-18T08:00');
      here.world.now = utc('2026-11-18T20:00');
      vi.advanceTimersByTime(5_000);
      await until('it was looked at', () => here.told.length > 0);
      expect(here.told).toEqual(['2026-11-18 missing']);
      here.expectations[Symbol.dispose]();
      expect(vi.getTimerCount()).toBe(before);
      await here.write('f_1', {});
      expect(here.expectations.list()).toMatchObject([{ arrived: 0 }]);
    } finally {
      vi.useRealTimers();
    }
  });

  test.each([
    ['spring', '2026-03-28T12:00', ['2026-03-28', '2026-03-29', '2026-03-30'], ['01:30', '01:00', '00:30']],
    ['autumn', '2026-10-24T12:00', ['2026-10-24', '2026-10-25', '2026-10-26'], ['00:30', '00:30', '01:30']],
  ])(
    'is said once each day of the week in which the clock changes, in %s, at the time that the clock shows',
    async (_, start, days, minutes) => {
      await using scratch = await scratchDirectory();
      const nightly: Expectation = { ...evening, by: 2 * 60 + 30, days: [0, 1, 2, 3, 4, 5, 6] };
      const begin = utc(start) - 2 * 86_400_000;
      await using here = await folderThatExpects(scratch.path, new Date(begin).toISOString().slice(0, 16), [nightly]);
      const first = new Map<string, string>();
      for (let at = begin; at < begin + 7 * 86_400_000; at += 10 * 60_000) {
        await here.at(new Date(at + 1).toISOString().replace('Z', ''));
        for (const line of here.told) if (!first.has(line)) first.set(line, new Date(at).toISOString().slice(11, 16));
      }
      expect(new Set(here.told).size).toBe(here.told.length);
      expect(here.told.length).toBeGreaterThanOrEqual(7);
      expect(days.map((day) => first.get(`${day} missing`))).toEqual(minutes);
    },
  );

  test('a clock that jumps over the time and back asks for nothing twice', async () => {
    await using scratch = await scratchDirectory();
    await using here = await folderThatExpects(scratch.path, '2026-11-18T08:00');
    await here.at('2026-11-18T20:00');
    await here.at('2026-11-18T08:00');
    expect(here.states()).toEqual(['2026-11-18 expected']);
    await here.write('f_1', { end: 'done', endedAt: utc('2026-11-18T08:01') });
    await here.at('2026-11-18T20:00');
    expect(here.told).toEqual(['2026-11-18 missing']);
    expect(here.states()).toEqual(['2026-11-18 live']);
  });

  test('a clock that is set back over midnight tells nothing of the day before again', async () => {
    await using scratch = await scratchDirectory();
    await using here = await folderThatExpects(scratch.path, '2026-11-18T20:00');
    await here.at('2026-11-18T23:02');
    for (const moment of ['2026-11-18T22:58', '2026-11-18T23:03']) await here.at(moment);
    expect(here.told).toEqual(['2026-11-18 missing']);
    expect(here.states()).toEqual(['2026-11-19 expected']);
    // But a clock that was a day ahead is believed now.
    await here.at('2026-11-18T08:00');
    expect(here.states()).toEqual(['2026-11-18 expected']);
  });

  test('until the new day is read, the old one is shown as it was: with what came, and not as missing', async () => {
    await using scratch = await scratchDirectory();
    await using here = await folderThatExpects(scratch.path, '2026-11-18T08:00');
    await here.write('f_1', { end: 'done', endedAt: utc('2026-11-18T09:00') });
    const seen: string[][] = [];
    here.world.onceRead = async () => {
      seen.push(here.states());
      throw new Error('the disk is gone');
    };
    await here.at('2026-11-18T23:00');
    expect([...seen, here.states()]).toEqual([['2026-11-18 live'], ['2026-11-18 live']]);
    here.world.onceRead = async () => undefined;
    await here.at('2026-11-18T23:01');
    expect(here.states()).toEqual(['2026-11-19 expected']);
    expect(here.told).toEqual([]);
  });

  test('what happens to files while they are read is not lost, nor overwritten by what was read before it', async () => {
    await using scratch = await scratchDirectory();
    await using here = await folderThatExpects(scratch.path, '2026-11-18T08:00');
    await here.write('f_live', {});
    await here.write('f_gone', {});
    here.world.config = {
      folders: [{ path: '/in', expect: [{ ...evening, by: 19 * 60, count: 2 }] }],
    } as unknown as Config;
    here.world.onceRead = async () => {
      await here.write('f_live', { end: 'done', endedAt: utc('2026-11-18T09:00') });
      await here.write('f_gone', { end: 'vanished', endedAt: utc('2026-11-18T09:00') });
      await here.write('f_new', {});
    };
    await here.at('2026-11-18T09:01');
    expect(here.expectations.list()).toMatchObject([{ arrived: 2, live: 1, state: 'arrived' }]);
  });

  test('a reload keeps what is still expected, and begins with what is new by reading the ledger', async () => {
    await using scratch = await scratchDirectory();
    await using here = await folderThatExpects(scratch.path, '2026-11-18T08:00');
    await here.write('f_1', {});
    const arrived: Expectation = { ...evening, until: 'arrived' };
    here.world.config = { folders: [{ path: '/in', expect: [arrived, evening] }] } as unknown as Config;
    await here.at('2026-11-18T20:00');
    expect(here.states()).toEqual(['2026-11-18 arrived', '2026-11-18 late']);
    here.world.config = { folders: [{ path: '/in' }] } as unknown as Config;
    await here.at('2026-11-18T20:01');
    expect(here.states()).toEqual([]);
  });
});

test.each([
  ['arrived', 'arrived', 'there, in time for 18:30'],
  ['recovered', 'arrived', 'there, too late for 18:30'],
  ['expected', 'live', '1 file expected by 18:30, 1 there'],
  ['missing', 'live', '0 of 1 file missing since 18:30'],
  ['late', 'live', 'there, but 0 of 1 file not live since 18:30'],
] as const)('%s of one file that is expected until it is %s: %s', (state, until, words) => {
  const by = new Date('2026-11-18T18:30').getTime();
  expect(expectationWords({ state, by, count: 1, arrived: 1, live: 3, until, why: null }, by)).toBe(words);
});

test.each([
  ['expected', '2 files expected by 18:30, 1 there'],
  ['arrived', 'there, to be live by 18:30'],
  ['live', 'live, in time for 18:30'],
  ['missing', '1 of 2 files missing since 18:30'],
  ['late', 'there, but 2 of 2 files not live since 18:30'],
  ['recovered', 'live, too late for 18:30'],
] as const)('%s is reported as: %s', (state, words) => {
  const by = new Date('2026-11-18T18:30').getTime();
  expect(expectationWords({ state, by, count: 2, arrived: 1, live: 0, until: 'live', why: null }, by)).toBe(words);
});

test('files that are there and cannot all be live in time are late before the time has come, once', async () => {
  await using scratch = await scratchDirectory();
  await using here = await folderThatExpects(scratch.path, '2026-11-18T17:00', [{ ...evening, count: 2 }]);
  for (const id of ['a', 'b', 'c']) await here.write(id, {});
  here.world.needsMs = { a: 60_000, b: 25 * 60_000, c: 40 * 60_000 };
  await here.at('2026-11-18T17:04');
  expect([here.states(), here.told]).toEqual([['2026-11-18 arrived'], []]);
  await here.at('2026-11-18T17:06');
  expect([here.states(), here.told]).toEqual([['2026-11-18 late'], ['2026-11-18 late']]);
  const [view] = here.expectations.list();
  const words = view === undefined ? '' : expectationWords(view, here.world.now);
  expect(words).toMatch(/^there, but cannot be live by .*: the service processes it; ready at .* at the earliest$/);
  here.world.needsMs = {};
  await here.at('2026-11-18T17:31');
  expect(here.told).toEqual(['2026-11-18 late']);
});
