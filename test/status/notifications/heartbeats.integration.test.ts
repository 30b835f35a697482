import { describe, expect, test } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import { secret } from '../../../src/config/secret.ts';
import type { ExpectationView } from '../../../src/pipeline/expectation.ts';
import { failure } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { startServer } from '../../support/server.ts';
import { desk, held, minute, pause } from './desk.ts';

type Here = Awaited<ReturnType<typeof desk>>;

/** A server that is asked every minute, and a daemon. */
async function heart(more: { readonly fail?: string | null; readonly status?: () => number } = {}) {
  const stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  const asked: string[] = [];
  const server = stack.use(
    await startServer((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(more.status?.() ?? 200).end();
    }),
  );
  const { fail = '/fail' } = more;
  const url = secret(`${server.origin}/ping`);
  const beat = { type: 'heartbeat', name: 'h', url, everyMs: minute, fail, timeoutMs: 5_000 } as const;
  const notify: Config['notify'] = [beat];
  const here = stack.use(await desk(scratch.path, notify));
  await here.settle();
  return { here, asked, beat, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const refuses =
  (calls: RegExp) =>
  (call: string, moment: string): void => {
    if (moment === 'before' && calls.test(call)) throw new Error('the disk is full');
  };

/** With something to tell, for which it is read. */
const unreadable = async (here: Here): Promise<void> => {
  await here.becomes('f_1', held);
  here.world.atLedger = refuses(/./);
};

/** So long after the start nothing is to be read or written for any news. */
const unusedSince = async (here: Here, calls: RegExp): Promise<void> => {
  await here.pass(5 * minute);
  here.world.atLedger = refuses(calls);
};

const missing = {
  key: 'k',
  folder: '/in',
  match: '*',
  day: 'd',
  by: 0,
  count: 1,
  arrived: 0,
  live: 0,
  state: 'missing',
};

describe('the word of a heartbeat', () => {
  // As the table in docs/notifications.md says.
  test.each<[string, (here: Here) => unknown, number, 'well' | 'fail']>([
    ['nothing is to be done', () => undefined, 10, 'well'],
    ['a file needs a person', (here) => here.becomes('f_1', held), 10, 'well'],
    [
      'the service lacks a channel',
      ({ world }) => (world.unknown = [{ kind: 'channel', name: 'c', since: 0 }]),
      10,
      'well',
    ],
    [
      'a feed is not published',
      ({ events }) => events.emit({ type: 'feed', feed: 'f', files: 1, failure: failure('permanent') }),
      10,
      'well',
    ],
    ['the budget is used up', ({ world }) => (world.gate = { ...world.gate, used: 1_000, waiting: 5 }), 60, 'well'],
    ['something is missing', ({ world }) => (world.expectations = [missing as ExpectationView]), 10, 'well'],
    ['a folder is away for a moment', ({ world }) => (world.frozen = ['/in']), 0.5, 'well'],
    ['a folder is away', ({ world }) => (world.frozen = ['/in']), 2, 'fail'],
    ['the service is away for a moment', ({ world }) => (world.pause = pause()), 4, 'well'],
    ['the service is away', ({ world }) => (world.pause = pause()), 6, 'fail'],
    ['no upload host takes anything', ({ world }) => (world.pause = pause({ holds: 'uploads' })), 6, 'fail'],
    ['the disk is full', ({ world }) => (world.pause = pause({ kind: 'suspended', code: 'ENOSPC' })), 6, 'fail'],
    [
      'the key is refused',
      ({ world }) => (world.pause = pause({ kind: 'suspended', code: 'unauthorized' })),
      0.5,
      'fail',
    ],
    ['the ledger refuses for a moment', unreadable, 1.5, 'well'],
    ['the ledger refuses', unreadable, 4, 'fail'],
    ['the ledger refuses, and nothing happens', (here) => unusedSince(here, /./), 3, 'fail'],
    ['the ledger cannot be written to, and nothing happens', (here) => unusedSince(here, /commit/), 3, 'fail'],
    [
      'the ledger cannot be written to, and so not even what is wrong be noted',
      ({ world }) => {
        world.pause = pause({ kind: 'suspended', code: 'ENOSPC' });
        world.atLedger = refuses(/commit|mark|trim|remove/);
      },
      6,
      'fail',
    ],
  ])('while %s', async (_, happen, minutes, word) => {
    await using each = await heart();
    await happen(each.here);
    await each.here.pass(minutes * minute);
    expect(each.asked[0]).toBe('/ping');
    expect(each.asked.at(-1)).toBe(word === 'well' ? '/ping' : '/ping/fail');
    // It never falls silent: the first one, and at least one every minute.
    expect(each.asked.length).toBeGreaterThan(minutes);
  });

  test('is well again when that is over, also after the ledger refused', async () => {
    await using each = await heart();
    each.here.world.frozen = ['/in'];
    await unreadable(each.here);
    await each.here.pass(3 * minute);
    each.here.world.frozen = [];
    each.here.world.atLedger = () => undefined;
    await each.here.pass(3 * minute);
    expect(each.asked.indexOf('/ping/fail')).toBeGreaterThan(0);
    expect(each.asked.at(-1)).toBe('/ping');
  });

  test('is not said while something is wrong and `fail` is off; nor by a daemon that has stopped', async () => {
    await using each = await heart({ fail: null });
    each.here.world.pause = pause({ kind: 'suspended', code: 'unauthorized' });
    await each.here.pass(5 * minute);
    expect(each.asked).toEqual(['/ping']);
    each.here.world.pause = null;
    await each.here.pass(5 * minute);
    expect(each.asked.length).toBeGreaterThan(2);
    const before = each.asked.length;
    await each.here.notifications[Symbol.asyncDispose]();
    await each.here.pass(5 * minute);
    expect(each.asked).toHaveLength(before);
  });

  test('is said at its time again after a clock that was set back', async () => {
    await using each = await heart();
    each.here.world.now -= 24 * 60 * minute;
    await each.here.pass(2 * minute);
    expect(each.asked).toHaveLength(3);
  });
});

test('an address that refuses is known since then, until it answers or is removed from the configuration', async () => {
  let status = 404;
  await using each = await heart({ status: () => status });
  const since = each.here.world.now;
  await each.here.pass(3 * minute);
  expect(each.here.deaf()).toEqual([['h', since]]);
  expect(each.here.logger.lines.filter(({ message }) => message.includes('does not answer'))).toHaveLength(1);
  status = 200;
  await each.here.pass(2 * minute);
  expect(each.here.deaf()).toEqual([]);
  expect(each.here.logger.lines.filter(({ message }) => message.includes('answers again'))).toHaveLength(1);
  status = 500;
  await each.here.pass(2 * minute);
  each.here.world.notify = [];
  await each.here.pass(minute);
  expect(each.here.deaf()).toEqual([]);
});
