import { besideOthers } from '../../../src/host/budget-store.ts';
import type { Sharing } from '../../../src/host/budget-store.ts';
import { emptyWindow } from '../../../src/host/budget-window.ts';
import { createGate } from '../../../src/host/gate.ts';
import { sharedBudget } from '../../../src/fleet/shared-budget.ts';
import { Random } from '../../reliability/simulation/machine/random.ts';
import { FakeTable } from '../budget/fake-table.ts';
import { VirtualTime } from './virtual-time.ts';

/** Hosts with one budget, of which all requests were used evenly over the hour before. */
export interface BudgetPlay {
  readonly seed: number;
  readonly hosts: number;
  readonly minutes: number;
  readonly limit: number;
  /** How long a host needs from one request to the next, at least; 0: as long as the answer. */
  readonly restMs: number;
  /** Planted: another way to go about the store. */
  readonly sharing?: (random: () => number) => Sharing;
}

export interface BudgetReport {
  /** Requests of all hosts, as a share of what fell out of the hour. */
  readonly use: number;
  /** Of the host with the fewest, as a share of the mean. */
  readonly leastShare: number;
  /** How long a host that wanted requests got none, at most, as a multiple of the mean. */
  readonly longestWait: number;
  /** By the second, on average and at most. */
  readonly statements: { readonly perSecond: number; readonly peak: number };
  /** Writes that somebody else was ahead of, for each that was stored. */
  readonly beaten: number;
}

const minuteMs = 60_000;
const start = Date.UTC(2026, 10, 20, 12);

/** Real gates and the real store, on a network and clocks that are played. The same seed gives the same report. */
export async function playBudget(play: BudgetPlay): Promise<BudgetReport> {
  const { seed, hosts, minutes, limit, restMs, sharing = besideOthers } = play;
  const time = new VirtualTime();
  const random = new Random(seed, 'budget');
  const table = new FakeTable(() => start + time.now);
  table.latencyMs = () => 0.3 + random.next();
  const now = start / minuteMs;
  const perMinute = limit / 60;
  const used = Array.from({ length: 60 }, (_, n) => [now - 60 + n, Math.round(perMinute)] as const);
  table.row = { spent: JSON.stringify({ ...emptyWindow, minutes: used }), rev: 1 };
  const sent = Array.from({ length: hosts }, () => 0);
  const waits = Array.from({ length: hosts }, () => 0);
  const clock = { now: () => start + time.now, elapsed: () => time.now };
  for (const [host] of sent.entries()) {
    // Hosts start over some seconds, each with random numbers of its own.
    const own = new Random(seed, `host ${host}`);
    time.after(random.between(0, 5_000), () => {
      const store = sharedBudget(
        table.connect(),
        clock.elapsed,
        sharing(() => own.next()),
      );
      const gate = createGate({ store, limit, clock });
      const go = async (): Promise<never> => {
        for (;;) {
          const since = time.now;
          await gate.take('create');
          waits[host] = Math.max(waits[host] ?? 0, time.now - since);
          sent[host] = (sent[host] ?? 0) + 1;
          await new Promise((resolve) => setTimeout(resolve, restMs === 0 ? 100 : restMs * own.between(0.5, 1.5)));
        }
      };
      void go();
    });
  }
  const seconds = await countBySecond(time, minutes, () => table.statements);
  const all = sent.reduce((sum, each) => sum + each, 0);
  return {
    use: all / (Math.round(perMinute) * minutes),
    leastShare: (Math.min(...sent) * hosts) / all,
    longestWait: Math.max(...waits) / ((minutes * minuteMs * hosts) / all),
    statements: { perSecond: table.statements / seconds.length, peak: Math.max(...seconds) },
    beaten: table.beaten / (table.swaps - table.beaten),
  };
}

/** A little longer than that, so that what falls out at the end can be used. */
async function countBySecond(time: VirtualTime, minutes: number, count: () => number): Promise<readonly number[]> {
  const seconds: number[] = [];
  for (let before = count(); time.now < minutes * minuteMs + 10_000; before = count()) {
    await time.run(1_000);
    seconds.push(count() - before);
  }
  return seconds;
}
