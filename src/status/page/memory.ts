import { randomUUID } from 'node:crypto';
import type { TargetAnswer } from '@dropcast/notify';
import type { Daemon } from '../../daemon/daemon.ts';
import type { PastPage } from '../../daemon/news/past-lines.ts';
import type { TriedRules } from '../../daemon/rules/try-rules.ts';
import { createDays } from '../../view/days.ts';
import type { Outcome } from './files/bulk-commands.ts';

/** Results that all readers share. */
export interface PageMemory {
  /** Commands on many files. */
  readonly outcomes: Kept<Outcome>;
  readonly trials: Kept<TriedRules>;
  /** Searches of kept events. */
  readonly pastEvents: (search: string, find: () => Promise<PastEvents>) => Promise<PastEvents>;
  /** Counts the files of the last days. */
  readonly days: ReturnType<typeof createDays>;
  /** The last test of each notification target. `at`: epoch milliseconds. */
  readonly targetTests: Map<string, TargetAnswer & { readonly at: number }>;
}

export type PastEvents = Pick<PastPage, 'lines' | 'next'>;

export function createMemory({ ledger }: Pick<Daemon, 'ledger'>): PageMemory {
  return {
    outcomes: createKept(50),
    trials: createKept(10),
    pastEvents: createReuse(10_000),
    days: createDays(ledger),
    targetTests: new Map(),
  };
}

/** The last few results, in memory: neither file names nor rules belong in addresses. */
interface Kept<T> {
  /** @returns the key for `find` */
  keep(result: T): string;
  find(key: string | null): T | null;
}

/** @param most maximum number of results; beyond it, the oldest is forgotten */
function createKept<T>(most: number): Kept<T> {
  const kept = new Map<string, T>();
  return {
    keep: (result) => {
      const key = randomUUID();
      kept.set(key, result);
      const [oldest] = kept.keys();
      if (kept.size > most && oldest !== undefined) kept.delete(oldest);
      return key;
    },
    find: (key) => kept.get(key ?? '') ?? null,
  };
}

/** Reuses the answer to the last question. @param reusedMs how long, in milliseconds */
function createReuse<T>(reusedMs: number): (question: string, ask: () => Promise<T>) => Promise<T> {
  let last: { readonly question: string; readonly until: number; readonly answer: Promise<T> } | null = null;
  return (question, ask) => {
    if (last?.question !== question || performance.now() >= last.until)
      last = { question, until: performance.now() + reusedMs, answer: ask() };
    return last.answer;
  };
}
