import { isSpanContextValid, trace, context, SpanStatusCode, type Tracer, type Span } from '@opentelemetry/api';
import type { DropcastEvent } from '../../pipeline/events.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { Failure } from '../../pipeline/file/failure.ts';

type RowWritten = Extract<DropcastEvent, { type: 'file' }>;

/** Starts a file's trace. */
export type BeginTrace = (event: RowWritten) => FileTrace;

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

type Step = 'create' | 'put' | 'poll' | 'publish';

/**
 * The trace of one file: a span for the whole file with a child span for each attempt at a step. Times are passed as
 * dates, because OpenTelemetry would interpret numbers from before the process started as relative to its start.
 */
export class FileTrace {
  readonly #tracer: Tracer;
  readonly #file: Span;
  #step: { readonly name: Step; readonly span: Span } | null = null;

  /**
   * @param first the file's first event in this run; the file may have arrived earlier, or be retried after it ended
   */
  constructor(tracer: Tracer, { before, facts }: RowWritten) {
    this.#tracer = tracer;
    const isAgain = before !== null && before.end !== null;
    this.#file = tracer.startSpan('file', {
      ...(!isAgain && { startTime: new Date(facts.discoveredAt) }),
      attributes: {
        'dropcast.file': facts.id,
        'dropcast.folder': facts.folder,
        'dropcast.path': facts.path,
        'dropcast.size_bytes': facts.version.size,
      },
    });
  }

  changed({ before, facts }: RowWritten): void {
    const step = stepOf(facts);
    const isOther = step !== this.#step?.name || (facts.intent !== null && facts.intent !== before?.intent);
    if (isOther) {
      this.#endStep(null);
      if (step !== null) this.#begin(step, startOf(step, facts));
    }
    if (facts.end !== null) this.#end(facts);
  }

  failed({ kind, code, message }: Failure, next: string): void {
    this.#file.addEvent('failure', { 'dropcast.class': kind, 'dropcast.code': code, 'dropcast.next': next });
    this.#endStep(message);
  }

  #begin(name: Step, startedAt: number | null): void {
    const below = trace.setSpan(context.active(), this.#file);
    const span = this.#tracer.startSpan(name, startedAt === null ? {} : { startTime: new Date(startedAt) }, below);
    this.#step = { name, span };
  }

  #endStep(why: string | null): void {
    if (why !== null) this.#step?.span.setStatus({ code: SpanStatusCode.ERROR, message: why });
    this.#step?.span.end();
    this.#step = null;
  }

  #end({ end, videoId, why }: Facts): void {
    this.#endStep(null);
    this.#file.setAttributes({ 'dropcast.end': end ?? '', ...(videoId !== null && { 'dropcast.video': videoId }) });
    if (end === 'failed' || end === 'held')
      this.#file.setStatus({ code: SpanStatusCode.ERROR, ...(why !== null && { message: why }) });
    this.#file.end();
  }
}

/** Returns the step that a row is in; null while it waits for its turn or has ended. */
function stepOf({ end, notBefore, readyAt, uploadedAt, uploadStartedAt, videoId, intent }: Facts): Step | null {
  if (end !== null || notBefore !== null) return null;
  if (readyAt !== null) return 'publish';
  if (uploadedAt !== null) return 'poll';
  if (videoId !== null) return uploadStartedAt === null ? null : 'put';
  return intent === null ? null : 'create';
}

/** Returns the step's start time recorded in the row; null: now. */
function startOf(step: Step, { uploadedAt, readyAt }: Facts): number | null {
  if (step === 'poll') return uploadedAt;
  return step === 'publish' ? readyAt : null;
}
