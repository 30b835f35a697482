import { isSpanContextValid, trace } from '@opentelemetry/api';
import type { Tracer } from '@opentelemetry/api';
import { FileTrace } from './file-trace.ts';
import type { BeginTrace } from './trace-files.ts';

/** @returns a function that starts traces; null when no SDK records them */
export function openTracer(version: string): BeginTrace | null {
  const tracer = trace.getTracer('dropcast', version);
  return isWanted(tracer) ? (event) => new FileTrace(tracer, event) : null;
}

/**
 * Whether an SDK records spans. Without one, spans have no valid context. The test span is never ended, so it is never
 * exported.
 */
function isWanted(tracer: Tracer): boolean {
  return isSpanContextValid(tracer.startSpan('dropcast').spanContext());
}
