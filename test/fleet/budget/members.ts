import { besideOthers } from '../../../src/host/budget-store.ts';
import type { BudgetStore, Sharing } from '../../../src/host/budget-store.ts';
import { createGate } from '../../../src/host/gate.ts';
import type { Gate } from '../../../src/host/gate.ts';
import { sharedBudget } from '../../../src/fleet/shared-budget.ts';
import type { RequestPriority } from '../../../src/pipeline/file/ports.ts';
import { Random } from '../../reliability/simulation/machine/random.ts';
import type { FakeTable } from './fake-table.ts';

/** A host of a fleet on fake timers, and when its requests left. */
export interface Member extends AsyncDisposable {
  readonly gate: Gate;
  readonly store: BudgetStore;
  readonly sent: { readonly at: number; readonly priority: RequestPriority }[];
  ask(priority: RequestPriority, count?: number): void;
  /** Asks again as soon as it got one. */
  askAlways(priority: RequestPriority): void;
}

/** @param clockOff what the clock of the host is wrong by, in milliseconds */
export function joinFleet(
  table: FakeTable,
  {
    limit = 100,
    clockOff = 0,
    sharing = besideOthers(chance()),
    wrap = (store: BudgetStore) => store,
  }: { limit?: number; clockOff?: number; sharing?: Sharing; wrap?: (store: BudgetStore) => BudgetStore } = {},
): Member {
  const clock = { now: () => Date.now() + clockOff, elapsed: () => performance.now() };
  const store = wrap(sharedBudget(table.connect(), clock.elapsed, sharing));
  const gate = createGate({ store, limit, clock });
  const sent: Member['sent'] = [];
  const take = async (priority: RequestPriority): Promise<void> => {
    await gate.take(priority);
    sent.push({ at: performance.now(), priority });
  };
  return {
    gate,
    store,
    sent,
    ask: (priority, count = 1) => {
      for (let n = 0; n < count; n += 1) void take(priority).catch(() => undefined);
    },
    askAlways: (priority) => {
      const again = async (): Promise<never> => {
        for (;;) await take(priority);
      };
      void again().catch(() => undefined);
    },
    [Symbol.asyncDispose]: async () => {
      const closed = gate[Symbol.asyncDispose]();
      const { vi } = await import('vitest');
      await vi.advanceTimersByTimeAsync(1_000);
      await closed;
    },
  };
}

let joined = 0;

/** Random numbers of its own for each host, the same in every run. */
function chance(): () => number {
  const random = new Random((joined += 1));
  return () => random.next();
}
