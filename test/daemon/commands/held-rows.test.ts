import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ignore } from '../../../src/daemon/commands/ignore.ts';
import { pause, resume } from '../../../src/daemon/commands/pause.ts';
import { publish } from '../../../src/daemon/commands/publish.ts';
import { Patience } from '../../../src/daemon/commands/wanted.ts';
import { asksAgain, reapply } from '../../../src/daemon/commands/reapply.ts';
import { retry } from '../../../src/daemon/commands/retry.ts';
import type { CommandResult } from '../../../src/daemon/commands/wanted.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import type { FolderRouter } from '../../../src/intake/folder-router.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { Fleet, Host } from '../../../src/view/hosts/fleet-view.ts';
import { FakeFleet, someHost } from '../../fleet/fake-fleet.ts';
import { alwaysOurs } from '../../../src/pipeline/file/ports.ts';
import type { Turn } from '../../../src/pipeline/file/ports.ts';
import { rowsOf } from '../../pipeline/held-rows.ts';
import { outside, startCore } from '../../pipeline/running-core.ts';
import { created, failure, ready, someFacts } from '../../pipeline/some-facts.ts';
import { someFolderConfig, someRule } from '../../support/folder-config.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

/** Until the end of the test. */
let over = Promise.withResolvers<void>();
afterEach(() => {
  vi.useRealTimers();
  over.resolve();
  over = Promise.withResolvers<void>();
});

/** Whoever sends a command gives up after this. */
const clientMs = 30_000;

const ignored = {
  end: 'skipped',
  endedAt: 1,
  why: 'so',
  lastFailure: failure('permanent', { code: 'ignored' }),
} as const;
const failed = { end: 'failed', endedAt: 1, why: 'so', lastFailure: failure('transient') } as const;
const by = 'anna';

type Command = (daemon: Daemon, names: readonly string[]) => Promise<CommandResult>;
const commands: Readonly<Record<string, { readonly of: Partial<Facts>; readonly run: Command }>> = {
  'ignore a file in line': { of: {}, run: (daemon, names) => ignore(daemon, { names, by }) },
  'ignore a file with a record': { of: created, run: (daemon, names) => ignore(daemon, { names, by }) },
  'ignore a file that failed': { of: failed, run: (daemon, names) => ignore(daemon, { names, by }) },
  'ignore --undo': { of: ignored, run: (daemon, names) => ignore(daemon, { names, by, isUndone: true }) },
  'retry a file that failed': { of: failed, run: (daemon, names) => retry(daemon, { names }) },
  'retry an ignored file': { of: ignored, run: (daemon, names) => retry(daemon, { names }) },
  'retry --channel': { of: failed, run: (daemon, names) => retry(daemon, { names, channel: 'ch_other' }) },
  'reapply a file in line': { of: {}, run: (daemon, names) => reapply(daemon, { names }) },
  'reapply a finished file': { of: { ...ready, end: 'done' }, run: (daemon, names) => reapply(daemon, { names }) },
};

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

/** A pipeline in which nothing begins, and the commands of a daemon over it. */
function open(
  count: number,
  of: Partial<Facts>,
  reroute: () => Promise<unknown> = async () => 'known',
  fleet: Fleet | null = null,
  turn: Turn = alwaysOurs,
) {
  const world = outside(
    Array.from({ length: count }, (_, n) => someFacts({ id: `f_${n}`, path: `${n}.mp4`, ...of, folder: '/inbox' })),
  );
  const rows = rowsOf(world.store);
  const { conductor } = startCore(world, { rows, turn, uploadsStartAt: () => Number.MAX_SAFE_INTEGER });
  const { store } = world;
  const folder = someFolderConfig('/inbox', {
    include: ['**'],
    rules: [someRule({ line: 3, publish: ['feed_news'] })],
  });
  const daemon = {
    fleet,
    turn,
    conductor,
    rows,
    pauses: conductor.pauses,
    folders: { reroute, whyOffLimits: () => null, status: () => [] },
    ledger: Object.assign(store, {
      find: async (name: string) => store.all.filter(({ id }) => id === name),
      waiting: async () => [],
      totals: async () => [],
      count: async () => 0,
    }),
    config: () => ({ file: '/etc/dropcast.yaml', folders: [folder] }),
  } as unknown as Daemon;
  return { daemon, rows, store, names: store.all.map(({ id }) => id) };
}

/** How far the clock moves at a time. */
const stepMs = 20;

/** The answer of a command, and how long it took. */
async function answered<T>(command: Promise<T>): Promise<{ readonly answer: T; readonly tookMs: number }> {
  const began = performance.now();
  const end = { tookMs: Infinity };
  const timed = command.then((answer) => {
    end.tookMs = performance.now() - began;
    return answer;
  });
  await diskIsIdle();
  for (let passedMs = 0; passedMs < 2 * clientMs && end.tookMs === Infinity; passedMs += stepMs) {
    await vi.advanceTimersByTimeAsync(stepMs);
    await diskIsIdle();
  }
  if (end.tookMs === Infinity) throw new Error('there was no answer');
  return { answer: await timed, tookMs: end.tookMs };
}

/** Commands read the real disk: the fake clock must not move until the disk has answered. */
async function diskIsIdle(): Promise<void> {
  do await setImmediate();
  while (process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq')));
}

describe.each(Object.entries(commands))('%s', (_name, { of, run }) => {
  test('answers in time while the rows are held, says what to do, and changes nothing, neither then nor later', async () => {
    const { daemon, rows, store, names } = open(20, of);
    const before = structuredClone(store.all);
    const held = names.map((id) => rows.claim(id, () => over.promise));
    const { answer, tookMs } = await answered(run(daemon, names));
    expect(tookMs).toBeLessThan(clientMs);
    expect(answer.files).toBe(0);
    expect(answer.refused).toHaveLength(names.length);
    for (const { why } of answer.refused)
      expect(why).toBe('busy: a step or the disk is using it; nothing was changed, repeat this later');
    over.resolve();
    await Promise.all(held);
    await vi.advanceTimersByTimeAsync(clientMs);
    expect(store.all).toEqual(before);
  });
});

describe.each(Object.entries(commands))('%s, of a file that another host works on,', (_name, { of, run }) => {
  test('changes nothing, and names that host', async () => {
    const work = [{ id: 'f_0', upload: null }];
    const fleet = new FakeFleet(someHost('a'), someHost('b', { doing: { slots: 4, places: [], work } }));
    const { daemon, store, names } = open(1, of, undefined, fleet);
    // Its lease is the other host's.
    Object.assign(store, { claim: async () => null });
    const before = structuredClone(store.all);
    const { answer } = await answered(run(daemon, names));
    expect(answer.refused.map(({ why }) => why)).toEqual([
      'b is working on it, and no other host can stop that: nothing was changed. Run this on b, or repeat it later',
    ]);
    expect(store.all).toEqual(before);
  });
});

describe('a folder that only another host can read', () => {
  const done = { ...ready, end: 'done', disposal: 'waiting' } as const;
  const fleetWith = (other: Partial<Host>): Fleet => {
    const doing = { slots: 4, places: ['b:/srv/in'], work: [] };
    return new FakeFleet(someHost('a'), someHost('b', { doing, ...other }));
  };
  const there = 'only b can read its folder: run this on b';

  test.each<[string, Partial<Host>, string]>([
    ['runs', {}, there],
    ['is silent', { isHeard: false, heardAt: 0 }, 'only b can read this folder, and it was last heard '],
  ])(
    'is named with it when the files are to be put away again or the rules asked, and it %s',
    async (_, other, why) => {
      const { daemon, store, names } = open(1, done, undefined, fleetWith(other));
      store.all[0] = { ...store.row('f_0'), folder: 'b:/srv/in' };
      const refusals = [...(await retry(daemon, { names })).refused, ...(await reapply(daemon, { names })).refused];
      expect(refusals.map((each) => each.why.slice(0, why.length))).toEqual([why, why]);
    },
  );

  test('can be paused from any host, and a frozen one is resumed there', async () => {
    const { daemon } = open(0, {}, undefined, fleetWith({}));
    const paused = await pause(daemon, { folders: ['b:/srv/in', 'c:/srv/in'], until: null, by });
    expect([paused.paused.map(({ folder }) => folder), paused.refused.map(({ name }) => name)]).toEqual([
      ['b:/srv/in'],
      ['c:/srv/in'],
    ]);
    expect(await resume(daemon, { folder: 'b:/srv/in', by })).toMatchObject({ ok: true });
    expect(await resume(daemon, { folder: 'b:/srv/in', by })).toEqual({
      ok: false,
      why: `it is not paused; ${there} if it is frozen`,
    });
  });
});

describe.each(['ignore --undo', 'retry a file that failed', 'retry an ignored file'])('%s', (name) => {
  const { of, run } = commands[name] ?? { of: {}, run: never };

  test('answers in time when the folder does not answer, and changes nothing', async () => {
    const { daemon, store, names } = open(50, of, never);
    const before = structuredClone(store.all);
    const { answer, tookMs } = await answered(run(daemon, names));
    expect(tookMs).toBeLessThan(clientMs);
    expect(answer.refused).toHaveLength(names.length);
    for (const { why } of answer.refused)
      expect(why).toBe('its folder does not answer: nothing was changed, repeat this once it does');
    expect(store.all).toEqual(before);
  });
});

test('reapply refuses a file whose folder does not answer', async () => {
  const router = { route: never, folder: {} } as unknown as FolderRouter;
  const { answer } = await answered(asksAgain(new Map([['/inbox', router]]), someFacts(), new Patience()));
  expect(answer(someFacts())).toEqual({
    is: 'refused',
    why: 'its folder does not answer: nothing was changed, repeat this once it does',
  });
});

test('publish and pause need no row: they answer while all of them are held', async () => {
  const { daemon, rows, names } = open(3, ready);
  for (const id of names) void rows.claim(id, () => over.promise);
  expect((await answered(pause(daemon, { folders: [], until: null, by }))).answer.paused).toHaveLength(1);
  const { answer, tookMs } = await answered(publish(daemon, { feeds: ['feed_news'] }));
  expect(answer.feeds).toMatchObject([{ feed: 'feed_news', is: expect.stringMatching(/published|later/) }]);
  expect(tookMs).toBeLessThan(clientMs);
});

describe('publish on a host that has not the turn', () => {
  const rounds = {
    feeds: [],
    pollTrouble: null,
    nextPollAt: null,
    comparison: null,
    processingMs: null,
    latePoll: null,
    deaf: [],
  };
  const doing = { slots: 4, places: [], work: [], rounds };

  test.each<[string, Partial<Host>, object]>([
    [
      'names the host that does it',
      { doing },
      { is: 'elsewhere', why: 'b publishes it now, as it does for all hosts' },
    ],
    [
      'says that none does it yet',
      { doing, isHeard: false },
      { is: 'later', why: 'no host does that at the moment; the first one that takes files again publishes it' },
    ],
  ])('%s, at once, and has noted it for that host', async (_, other, told) => {
    const fleet = new FakeFleet(someHost('a'), someHost('b', other));
    const { daemon, store } = open(0, {}, undefined, fleet, { signal: () => null });
    const { answer, tookMs } = await answered(publish(daemon, { feeds: ['feed_news'] }));
    expect(answer.feeds).toMatchObject([{ feed: 'feed_news', ...told }]);
    expect(tookMs).toBe(0);
    expect(await store.feedsDue()).toMatchObject([{ feed: 'feed_news', isNow: true }]);
  });
});

test('a file that is released in time is still ignored', async () => {
  const { daemon, rows, store } = open(1, created);
  void rows.claim('f_0', () => over.promise);
  const command = ignore(daemon, { names: ['f_0'], by });
  await vi.advanceTimersByTimeAsync(1_000);
  over.resolve();
  expect((await answered(command)).answer.files).toBe(1);
  expect(store.row('f_0')).toMatchObject({ end: 'skipped', why: 'ignored by anna' });
});
