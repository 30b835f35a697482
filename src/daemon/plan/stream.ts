import { setTimeout as delay } from 'node:timers/promises';
import { streamNdjson } from '../control/ndjson.ts';
import type { PlanOptions, PlanProgress } from './plan.ts';
import type { PlanView } from './summary.ts';

/** A line of the answer: progress, then finally the plan or an error. */
export type PlanLine = { readonly progress: PlanProgress } | { readonly plan: PlanView } | { readonly error: string };

/** Interval between progress lines, in milliseconds: frequent enough to show that the daemon is not hung. */
const everyMs = 200;

/**
 * Streams a plan's progress and result, one line of JSON each. Planning stops when the client disconnects.
 *
 * @param make makes the plan
 */
export function streamPlan(make: (options: Pick<PlanOptions, 'signal' | 'progress'>) => Promise<PlanView>): Response {
  const gone = new AbortController();
  let now: PlanProgress = { looked: 0, read: 0 };
  let isOver = false;
  const made = make({ signal: gone.signal, progress: (counts) => void (now = { ...counts }) }).then(
    (plan): PlanLine => ({ plan }),
    (error: unknown): PlanLine => ({ error: error instanceof Error ? error.message : String(error) }),
  );
  const next = async (): Promise<PlanLine | undefined> => {
    if (isOver) return undefined;
    const result = await Promise.race([made, delay(everyMs, null)]);
    isOver = result !== null;
    return result ?? { progress: now };
  };
  return streamNdjson(next, () => gone.abort());
}
