import { setInterval, clearInterval } from 'node:timers';
import type { PlanOptions, PlanProgress } from './plan.ts';
import type { PlanView } from './summary.ts';

/** A line of the answer: how far it is, at last the plan, or why there is none. */
export type PlanLine = { readonly progress: PlanProgress } | { readonly plan: PlanView } | { readonly error: string };

/** Often enough to show that the other side is not hung. */
const everyMs = 200;

/**
 * A plan while it is made, one line of JSON each. It ends when the client disconnects.
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
