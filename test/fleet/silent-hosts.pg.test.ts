import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openJobQueue } from '../../src/fleet/job-queue.ts';
import type { JobQueue } from '../../src/fleet/job-queue.ts';
import { openPool } from '../../src/fleet/postgres/pool.ts';
import type { PostgresPool } from '../../src/fleet/postgres/pool.ts';
import { LedgerUnavailableError } from '../../src/pipeline/file/store-errors.ts';
import { placeAt } from '../support/postgres/place.ts';
import { openLeaseFleet } from './members.ts';
import type { LeaseFleet } from './members.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
afterEach(() => void vi.useRealTimers());

interface Looker extends AsyncDisposable {
  readonly queue: JobQueue;
  /** What the next statements fail with. */
  readonly failures: Error[];
  /** Statements and transactions so far. */
  readonly asked: { count: number };
  /** So many seconds pass, in which it looks for silent hosts. */
  pass(seconds: number): Promise<void>;
}

async function openLooker(url: string): Promise<Looker> {
  await using stack = new AsyncDisposableStack();
  const pool = stack.use(await openPool(placeAt(url), { hostName: 'looker' }));
  const failures: Error[] = [];
  const asked = { count: 0 };
  let running = 0;
  const failing = async <T>(ask: () => Promise<T>): Promise<T> => {
    asked.count += 1;
    running += 1;
    try {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return await ask();
    } finally {
      running -= 1;
    }
  };
  const wrapped: Pick<PostgresPool, 'rows' | 'transaction'> = {
    rows: (...args) => failing(() => pool.rows(...args)),
    transaction: (...args) => failing(() => pool.transaction(...args)),
  };
  const elapsed = (): number => performance.now();
  const queue = stack.use(
    await openJobQueue({ pool: wrapped, name: 'file', hostName: 'looker', elapsed, broke: () => undefined }),
  );
  const parts = stack.move();
  return {
    queue,
    failures,
    asked,
    pass: async (seconds) => {
      for (let second = 0; second < seconds; second += 1) {
        vi.advanceTimersByTime(1_000);
        for (let quiet = 0; quiet < 5; quiet = running === 0 ? quiet + 1 : 0) await nextTurn();
      }
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

async function silentHost(fleet: LeaseFleet, { queue }: Looker): Promise<void> {
  await queue.take((text, values) => fleet.ask(text, values) as never, 'f_1', 1);
  await fleet.ask(`update dropcast_jobs.job set heartbeat_on = heartbeat_on - interval '1 minute'`);
  await fleet.ask('update dropcast_jobs.queue set monitor_on = null, monitor_claim_on = null');
}

const stateOf = async (fleet: LeaseFleet): Promise<unknown> =>
  (await fleet.ask('select state::text from dropcast_jobs.job'))[0]?.['state'];

test.each([1, 2])('a look for silent hosts that fails %i times is made up for at the next one', async (times) => {
  await using fleet = await openLeaseFleet(1);
  await using looker = await openLooker(fleet.url);
  await looker.pass(12);
  await silentHost(fleet, looker);
  looker.failures.push(...Array.from({ length: times }, () => new LedgerUnavailableError('busy')));
  await looker.pass(2 * times);
  await looker.pass(2);
  expect(await stateOf(fleet)).toBe('retry');
});

test('after the database was away for all hosts, no host counts as silent before each had time to be heard', async () => {
  await using fleet = await openLeaseFleet(1);
  await using looker = await openLooker(fleet.url);
  await looker.pass(12);
  await silentHost(fleet, looker);
  looker.failures.push(...Array.from({ length: 4 }, () => new LedgerUnavailableError('away')));
  await looker.pass(16);
  expect(await stateOf(fleet)).toBe('active');
  await looker.pass(4);
  expect(await stateOf(fleet)).toBe('retry');
});

test('when the clock of the database jumps ahead, no host that lives loses what it has', async () => {
  await using fleet = await openLeaseFleet(1);
  await using looker = await openLooker(fleet.url);
  await looker.pass(12);
  const grant = await looker.queue.take((text, values) => fleet.ask(text, values) as never, 'f_1', 1);
  await fleet.ask(`create or replace function dropcast_jobs.job_now() returns timestamptz language sql stable
    as $$ select clock_timestamp() + interval '1 hour' $$`);
  await fleet.ask('update dropcast_jobs.queue set monitor_on = null, monitor_claim_on = null');
  await looker.pass(4);
  expect(await stateOf(fleet)).toBe('active');
  expect(await looker.queue.touch(grant === null ? [] : [grant])).toEqual(new Set([grant?.job]));
  await looker.pass(12);
  expect(await stateOf(fleet)).toBe('active');
});

test('while no host is silent, a host sends one statement every two seconds', async () => {
  await using fleet = await openLeaseFleet(1);
  await using looker = await openLooker(fleet.url);
  await looker.pass(12);
  const before = looker.asked.count;
  await looker.pass(20);
  expect(looker.asked.count - before).toBe(10);
});
