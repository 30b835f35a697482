import { isSpanContextValid, trace } from '@opentelemetry/api';
import type { Tracer } from '@opentelemetry/api';
import type { Daemon } from '../../daemon/daemon.ts';
import { FileTrace } from './file-trace.ts';

/**
 * Makes a trace of each file's way from the event stream, for the OpenTelemetry SDK that somebody loaded before the program
 * (`NODE_OPTIONS=--import=…`). Without one it does not even listen.
 *
 * @returns whether somebody wants traces
 */
export function traceFiles({ events }: Pick<Daemon, 'events'>, version: string): boolean {
  const tracer = trace.getTracer('dropcast', version);
  if (!isWanted(tracer)) return false;
  const traces = new Map<string, FileTrace>();
  events.listen((event) => {
    if (event.type === 'failure') traces.get(event.facts.id)?.failed(event.failure, event.next);
    if (event.type !== 'file') return;
    const { before, facts } = event;
    const known = traces.get(facts.id);
    const began = known ?? (facts.end === null || before?.end === null ? new FileTrace(tracer, event) : null);
    began?.changed(event);
    if (facts.end !== null) traces.delete(facts.id);
    else if (began !== null) traces.set(facts.id, began);
  });
  return true;
}

/** Without an SDK every span is the same one, of no trace. A span that is never ended is never told. */
function isWanted(tracer: Tracer): boolean {
  return isSpanContextValid(tracer.startSpan('dropcast').spanContext());
}
