import { setInterval, clearInterval } from 'node:timers';
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
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const encoder = new TextEncoder();
      const tell = (line: PlanLine): void => controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      let progress: PlanProgress = { looked: 0, read: 0 };
      const timer = setInterval(() => tell({ progress }), everyMs);
      const finish = (line: PlanLine): void => {
        clearInterval(timer);
        if (gone.signal.aborted) return;
        tell(line);
        controller.close();
      };
      make({
        signal: gone.signal,
        progress: (now) => {
          progress = { ...now };
        },
      }).then(
        (plan) => finish({ plan }),
        (error: unknown) => finish({ error: error instanceof Error ? error.message : String(error) }),
      );
      gone.signal.addEventListener('abort', () => clearInterval(timer));
    },
    cancel: () => gone.abort(),
  });
  return new Response(body, { headers: { 'content-type': 'application/x-ndjson' } });
}
