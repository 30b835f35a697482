import { expect, test } from 'vitest';
import { createEventStream } from '../../../src/daemon/events.ts';
import { createDeadlines } from '../../../src/daemon/expectations/deadlines.ts';
import { eventRow } from '../../../src/daemon/news/lines.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import type { DropcastEvent } from '../../../src/pipeline/events.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { expectationTroubles } from '../../../src/status/notifications/troubles.ts';
import { expectationWords } from '../../../src/view/words/picture-words.ts';
import { silentLogger } from '../../pipeline/silent-logger.ts';
import { ready, someFacts, somePlan } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

const minute = 60_000;
const noon = new Date('2026-11-18T12:00').getTime();

/** Deadlines over a real ledger. Each file needs as long as the test says, from now. */
async function open(directory: string, needs: Readonly<Record<string, number>>, isReporter = true) {
  const stack = new AsyncDisposableStack();
  const ledger = stack.use(await openLedger(directory));
  const told: DropcastEvent[] = [];
  const world = { now: noon };
  const events = createEventStream(silentLogger, (event) => eventRow('here', event, world.now));
  events.listen((event) => told.push(event));
  const deadlines = createDeadlines({
    ledger,
    events,
    isReporter: () => isReporter,
    now: () => world.now,
    earliest: (due) =>
      new Map(due.map(({ id }) => [id, { inMs: needs[id] ?? 0, because: 'bytes', bytes: 4_200_000_000 }])),
  });
  return {
    ledger,
    deadlines,
    words: () => deadlines.list().map((view) => `${view.match}: ${expectationWords(view, world.now)}`),
    told: () => told.flatMap((event) => (event.type === 'late' ? [event.facts.id] : [])),
    at: async (minutes: number) => {
      world.now = noon + minutes * minute;
      await deadlines.refresh();
    },
    kept: async () => (await ledger.events({ host: null, since: 0, limit: 9 })).map(({ line }) => line),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const due = (id: string, minutes: number): Facts =>
  someFacts({
    id,
    path: `${id}.mp4`,
    discoveredAt: noon,
    plan: { ...somePlan, readyBy: { afterMs: minutes * minute } },
  });

test('a file that cannot be ready in time is reported once, before its deadline, and listed until it is ready', async () => {
  await using scratch = await scratchDirectory();
  const needs = { slow: 20 * minute, quick: minute };
  {
    await using here = await open(scratch.path, needs);
    for (const facts of [due('slow', 30), due('quick', 30), someFacts({ id: 'any', path: 'any.mp4' })])
      await here.ledger.insert(facts);
    await here.at(9);
    expect([here.words(), here.told()]).toEqual([[], []]);
    await here.at(11);
    await here.at(12);
    expect(here.told()).toEqual(['slow']);
    expect(here.words()).toEqual([
      'slow.mp4: cannot be ready by 12:30: 4.2 GB are left to send; ready at 12:32 at the earliest',
    ]);
    expect(await here.kept()).toMatchObject([
      {
        type: 'late',
        file: 'slow',
        level: 'warn',
        text: expect.stringContaining('Cannot be ready by 12:30') as string,
      },
    ]);
  }
  // After a restart nothing was measured.
  await using here = await open(scratch.path, {});
  await here.at(13);
  expect([here.told(), here.words().length]).toEqual([[], 1]);
  await here.at(31);
  expect(here.told()).toEqual(['quick']);
  expect(here.words()[0]).toMatch(
    /^slow.mp4: not ready since 12:30: it waits|^slow.mp4: not ready since 12:30: 4.2 GB/,
  );
  for (const id of ['slow', 'quick']) await here.ledger.save({ ...((await here.ledger.load(id)) as Facts), ...ready });
  await here.at(32);
  expect([here.words(), await here.ledger.note('late')]).toEqual([[], {}]);
  expect(await here.kept()).toHaveLength(2);
});

test('a late file that more urgent ones pass is not reported again once they are ready', async () => {
  await using scratch = await scratchDirectory();
  await using here = await open(scratch.path, { slow: 90 * minute });
  await here.ledger.insert(due('slow', 60));
  await here.at(1);
  for (let n = 0; n < 300; n += 1) await here.ledger.insert(due(`quick_${n}`, 30));
  await here.at(2);
  expect([here.told(), here.words()]).toEqual([['slow'], []]);
  for (let n = 0; n < 300; n += 1)
    await here.ledger.save({ ...((await here.ledger.load(`quick_${n}`)) as Facts), ...ready });
  await here.at(3);
  expect([here.told(), here.words().length]).toEqual([['slow'], 1]);
});

test('a late file that gets a later deadline is late no longer, and is reported again if it misses that too', async () => {
  await using scratch = await scratchDirectory();
  const needs = { a: 20 * minute };
  await using here = await open(scratch.path, needs);
  await here.ledger.insert(due('a', 10));
  await here.at(1);
  const plan = { ...somePlan, readyBy: { afterMs: 60 * minute } };
  await here.ledger.save({ ...((await here.ledger.load('a')) as Facts), plan });
  await here.at(2);
  expect([here.told(), here.words()]).toEqual([['a'], []]);
  await here.at(50);
  expect([here.told(), here.words().length]).toEqual([['a', 'a'], 1]);
});

test('a flood of late files is one entry and one notification for each folder, and an event for each file', async () => {
  await using scratch = await scratchDirectory();
  await using here = await open(scratch.path, {});
  for (let n = 0; n < 20; n += 1) await here.ledger.insert(due(`f_${n}`, 1 + n));
  await here.ledger.insert({ ...due('alone', 5), folder: '/other' });
  await here.at(30);
  expect(here.told()).toHaveLength(21);
  expect(here.words().map((words) => words.split(':')[0])).toEqual(['f_0.mp4 and others', 'alone.mp4']);
  const titles = () => expectationTroubles(here.deadlines.list(), noon).map(({ cause, title }) => `${cause} ${title}`);
  const before = titles();
  expect(before[0]).toMatch(/f_0\.mp4 and others are late: expected by 12:01$/);
  expect(before[1]).toMatch(/alone\.mp4 is late/);
  await here.ledger.save({ ...((await here.ledger.load('f_0')) as Facts), ...ready });
  await here.at(31);
  const causes = (lines: readonly string[]) => lines.map((line) => line.split('] ')[0]);
  expect(causes(titles())).toEqual(causes(before));
});

test('a host of a fleet that does not report shows what the one that does has noted', async () => {
  await using scratch = await scratchDirectory();
  {
    await using reporter = await open(scratch.path, { a: 20 * minute });
    await reporter.ledger.insert(due('a', 10));
    await reporter.at(1);
  }
  await using other = await open(scratch.path, { a: 20 * minute }, false);
  await other.at(2);
  expect([other.told(), other.words().length]).toEqual([[], 1]);
});
