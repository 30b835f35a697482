import { isSpanContextValid, trace } from '@opentelemetry/api';
import type { Tracer } from '@opentelemetry/api';
import { FileTrace } from './file-trace.ts';
import type { BeginTrace } from './trace-files.ts';

/** @returns begins traces; null when what was registered wants none */
export function openTracer(version: string): BeginTrace | null {
  const tracer = trace.getTracer('dropcast', version);
  return isWanted(tracer) ? (event) => new FileTrace(tracer, event) : null;
}

/** Without an SDK every span is the same one, of no trace. A span that is never ended is never told. */
function isWanted(tracer: Tracer): boolean {
  return isSpanContextValid(tracer.startSpan('dropcast').spanContext());
}
