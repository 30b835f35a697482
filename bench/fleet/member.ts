import { besideOthers } from '../../src/host/budget-store.ts';
import { createGate } from '../../src/host/gate.ts';
import type { Gate } from '../../src/host/gate.ts';
import { openJobQueue } from '../../src/fleet/job-queue.ts';
import { createLeases } from '../../src/fleet/leases.ts';
import type { Leases } from '../../src/fleet/leases.ts';
import { sharedBudget } from '../../src/fleet/shared-budget.ts';
import { openPool } from '../../src/fleet/postgres/pool.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { placeAt } from '../../test/support/postgres/place.ts';

/** What a host of a fleet has of PostgreSQL, without the rest of the daemon. */
export interface Member extends AsyncDisposable {
  readonly leases: Leases;
  readonly gate: Gate;
}

const clock = { now: () => Date.now(), elapsed: () => performance.now() };

export async function openMember(url: string, hostName: string): Promise<Member> {
  await using stack = new AsyncDisposableStack();
  const pool = stack.use(await openPool(placeAt(url), { hostName }));
  const broke = (error: unknown): void => console.error(error);
  const queue = stack.use(await openJobQueue({ pool, name: 'file', hostName, elapsed: clock.elapsed, broke }));
  // The benchmark does nothing with the row.
  const load = async (id: string) => ({ id }) as Facts;
  const leases = stack.use(createLeases({ pool, queue, clock, load }));
  const store = sharedBudget((text, values) => pool.rows(text, values), clock.elapsed, besideOthers());
  const gate = stack.use(createGate({ store, limit: 10_000_000, clock }));
  const parts = stack.move();
  return { leases, gate, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}
