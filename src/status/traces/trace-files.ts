import type { Daemon } from '../../daemon/daemon.ts';
import type { DropcastEvent } from '../../pipeline/events.ts';
import type { BeginTrace, FileTrace } from './file-trace.ts';

/**
 * Traces each file from the event stream, if the operator loaded an OpenTelemetry SDK before the program
 * (`NODE_OPTIONS=--import=…`). Otherwise OpenTelemetry is not loaded and no listener is added.
 *
 * @returns whether an SDK is loaded
 */
export async function traceFiles({ events }: Pick<Daemon, 'events'>, version: string): Promise<boolean> {
  if (!isSomethingRegistered()) return false;
  const { openTracer } = await import('./file-trace.ts');
  const begin = openTracer(version);
  if (begin === null) return false;
  events.listen(follow(begin));
  return true;
}

/**
 * Whether an SDK is registered. All copies of version 1 of the API share this global, and an SDK registers before the
 * program is loaded.
 */
function isSomethingRegistered(): boolean {
  return Symbol.for('opentelemetry.js.api.1') in globalThis;
}

function follow(begin: BeginTrace): (event: DropcastEvent) => void {
  const traces = new Map<string, FileTrace>();
  return (event) => {
    if (event.type === 'failure') traces.get(event.facts.id)?.failed(event.failure, event.next);
    if (event.type !== 'file') return;
    const { before, facts } = event;
    const known = traces.get(facts.id);
    const began = known ?? (facts.end === null || before?.end === null ? begin(event) : null);
    began?.changed(event);
    if (facts.end !== null) traces.delete(facts.id);
    else if (began !== null) traces.set(facts.id, began);
  };
}
