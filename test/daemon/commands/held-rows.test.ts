import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ignore } from '../../../src/daemon/commands/ignore.ts';
import { pause } from '../../../src/daemon/commands/pause.ts';
import { publish } from '../../../src/daemon/commands/publish.ts';
import { Patience } from '../../../src/daemon/commands/patience.ts';
import { asksAgain, reapply } from '../../../src/daemon/commands/reapply.ts';
import { retry } from '../../../src/daemon/commands/retry.ts';
import type { CommandResult } from '../../../src/daemon/commands/wanted.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import type { FolderRouter } from '../../../src/intake/folder-router.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { rowsOf } from '../../pipeline/held-rows.ts';
import { outside, startCore } from '../../pipeline/running-core.ts';
import { created, failure, ready, someFacts } from '../../pipeline/some-facts.ts';

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
function open(count: number, of: Partial<Facts>, reroute: () => Promise<unknown> = async () => 'known') {
  const world = outside(
    Array.from({ length: count }, (_, n) => someFacts({ id: `f_${n}`, path: `${n}.mp4`, ...of, folder: '/inbox' })),
  );
  const rows = rowsOf(world.store);
  const { conductor } = startCore(world, { rows, uploadsStartAt: () => Number.MAX_SAFE_INTEGER });
  const { store } = world;
  const rule = {
    key: 'folders[0].rules[0]',
    line: 3,
    match: '**',
    channel: 'ch_main',
    title: '{title}',
    description: null,
    tags: [],
    publish: ['feed_news'],
  };
  const folder = {
    path: '/inbox',
    key: 'folders[0]',
    rules: [rule],
    include: ['**'],
    exclude: [],
    doneMarker: null,
    afterReady: { kind: 'keep' },
  };
  const daemon = {
    conductor,
    rows,
    pauses: conductor.pauses,
    folders: { reroute, whyOffLimits: () => null },
    ledger: Object.assign(store, {
      find: async (name: string) => store.rows.filter(({ id }) => id === name),
      waiting: async () => [],
      feedsAhead: async () => [],
      selection: { count: async () => 0 },
    }),
    config: () => ({ file: '/etc/dropcast.yaml', folders: [folder] }),
  } as unknown as Daemon;
  return { daemon, rows, store, names: store.rows.map(({ id }) => id) };
}

/** The answer of a command, and how long it took. */
async function answered<T>(command: Promise<T>): Promise<{ readonly answer: T; readonly tookMs: number }> {
  const began = performance.now();
  let tookMs = Infinity;
  const timed = command.then((answer) => {
    tookMs = performance.now() - began;
    return answer;
  });
  await Promise.race([timed, vi.advanceTimersByTimeAsync(2 * clientMs)]);
  if (tookMs === Infinity) throw new Error('there was no answer');
  return { answer: await timed, tookMs };
}

describe.each(Object.entries(commands))('%s', (_name, { of, run }) => {
  test('answers in time when somebody holds the rows, says what to do, and changes nothing, neither then nor later', async () => {
    const { daemon, rows, store, names } = open(20, of);
    const before = structuredClone(store.rows);
    const held = names.map((id) => rows.claim(id, () => over.promise));
    const { answer, tookMs } = await answered(run(daemon, names));
    expect(tookMs).toBeLessThan(clientMs);
    expect(answer.files).toBe(0);
    expect(answer.refused).toHaveLength(names.length);
    for (const { why } of answer.refused)
      expect(why).toBe('busy: a step or the disk keeps it; nothing was changed, repeat this later');
    over.resolve();
    await Promise.all(held);
    await vi.advanceTimersByTimeAsync(clientMs);
    expect(store.rows).toEqual(before);
  });
});

describe.each(['ignore --undo', 'retry a file that failed', 'retry an ignored file'])('%s', (name) => {
  const { of, run } = commands[name] ?? { of: {}, run: never };

  test('answers in time when the folder does not answer, and changes nothing', async () => {
    const { daemon, store, names } = open(50, of, never);
    const before = structuredClone(store.rows);
    const { answer, tookMs } = await answered(run(daemon, names));
    expect(tookMs).toBeLessThan(clientMs);
    expect(answer.refused).toHaveLength(names.length);
    for (const { why } of answer.refused)
      expect(why).toBe('its folder does not answer: nothing was changed, repeat this once it does');
    expect(store.rows).toEqual(before);
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

test('a file that is given back in time is ignored all the same', async () => {
  const { daemon, rows, store } = open(1, created);
  void rows.claim('f_0', () => over.promise);
  const command = ignore(daemon, { names: ['f_0'], by });
  await vi.advanceTimersByTimeAsync(1_000);
  over.resolve();
  expect((await answered(command)).answer.files).toBe(1);
  expect(store.row('f_0')).toMatchObject({ end: 'skipped', why: 'ignored by anna' });
});
