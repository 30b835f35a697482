import { expect, test } from 'vitest';
import { createTurns } from '../../src/fleet/leases.ts';
import type { Turns } from '../../src/fleet/leases.ts';
import { until } from '../support/until.ts';
import { openLeaseFleet } from './members.ts';
import type { LeaseHolder } from './members.ts';

interface Contender extends AsyncDisposable {
  readonly turns: Turns;
  mayTake: boolean;
}

function contend({ pool, queue }: LeaseHolder): Contender {
  const contender = { mayTake: true };
  const turns = createTurns({
    pool,
    queue,
    clock: { elapsed: () => performance.now() },
    mayTake: () => contender.mayTake,
    won: () => undefined,
    broke: () => undefined,
  });
  return Object.assign(contender, {
    turns,
    [Symbol.asyncDispose]: () => turns[Symbol.asyncDispose](),
  });
}

const held = (those: readonly Contender[]): number => those.filter(({ turns }) => turns.signal() !== null).length;

test('one host has the turn; one that is drained, or stops, gives it away, and cuts what it does with it', async () => {
  await using fleet = await openLeaseFleet(0);
  await using one = contend(await fleet.join('a', 'turn'));
  await using other = contend(await fleet.join('b', 'turn'));
  await one.turns.look();
  await other.turns.look();
  expect(held([one, other])).toBe(1);
  const signal = one.turns.signal();
  expect(signal?.aborted).toBe(false);
  one.mayTake = false;
  await one.turns.look();
  expect([signal?.aborted, one.turns.signal()]).toEqual([true, null]);
  await until('the other has the turn', () => other.turns.signal() !== null);
  one.mayTake = true;
  await other.turns[Symbol.asyncDispose]();
  await until('the first has it again', () => one.turns.signal() !== null);
});

test('a host that is silent loses the turn to another, and what it does with it is cut', async () => {
  await using fleet = await openLeaseFleet(0);
  const [a, b] = [await fleet.join('a', 'turn'), await fleet.join('b', 'turn')];
  await using silent = contend(a);
  await silent.turns.look();
  const signal = silent.turns.signal();
  await fleet.ask(`update dropcast_jobs.job set heartbeat_on = heartbeat_on - interval '1 minute'`);
  await fleet.ask('update dropcast_jobs.queue set monitor_on = null');
  await b.queue.supervise();
  await using other = contend(b);
  await other.turns.look();
  expect(other.turns.signal()).not.toBeNull();
  await until('the turn is lost', () => signal?.aborted === true);
  await silent.turns.look();
  expect([silent.turns.signal(), other.turns.signal() === null]).toEqual([null, false]);
});
