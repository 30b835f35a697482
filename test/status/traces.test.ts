import { SpanStatusCode, trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createEventStream } from '../../src/daemon/events.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { traceFiles } from '../../src/status/traces/trace-files.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { created, failure, ready, someFacts, uploaded } from '../pipeline/some-facts.ts';

const exporter = new InMemorySpanExporter();
const way: readonly Partial<Facts>[] = [
  {},
  { intent: 't_1' },
  created,
  { ...created, uploadStartedAt: 2 },
  uploaded,
  ready,
  { ...ready, published: { feed_news: 5 }, end: 'done', endedAt: 6 },
];

/** Tells the events of rows that follow each other. */
function walk(events: ReturnType<typeof createEventStream>, rows: readonly Partial<Facts>[], id = 'f_1'): void {
  let before: Facts | null = null;
  for (const row of rows) {
    const facts = someFacts({ ...row, id });
    events.emit({ type: 'file', before, facts, note: null });
    before = facts;
  }
}

const tree = (spans: readonly ReadableSpan[]): readonly string[] => {
  const file = spans.find(({ name }) => name === 'file');
  return spans.map(({ name, parentSpanContext, status }) => {
    const place = parentSpanContext?.spanId === file?.spanContext().spanId ? `file > ${name}` : name;
    return status.code === SpanStatusCode.ERROR ? `${place} failed` : place;
  });
};

describe('with an SDK', () => {
  beforeEach(() => {
    exporter.reset();
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  });
  afterEach(() => trace.disable());

  const listen = async () => {
    const events = createEventStream(silentLogger);
    expect(await traceFiles({ events }, '1.2.3')).toBe(true);
    return events;
  };

  test('a file has one trace with a span for each step', async () => {
    const discoveredAt = 1_500_000_000_000;
    walk(
      await listen(),
      way.map((row) => ({ ...row, discoveredAt })),
    );
    const spans = exporter.getFinishedSpans();
    expect(tree(spans)).toEqual(['file > create', 'file > put', 'file > poll', 'file > publish', 'file']);
    expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
    expect(spans.at(-1)?.attributes).toMatchObject({ 'dropcast.file': 'f_1', 'dropcast.end': 'done' });
    expect(spans.at(-1)?.startTime).toEqual([1_500_000_000, 0]); // long before this process began
  });

  test('files next to each other have their own traces', async () => {
    const events = await listen();
    for (const n of [0, 1, 2, 3, 4, 5, 6])
      for (const id of ['f_1', 'f_2']) {
        const [before, facts] = [n === 0 ? null : someFacts({ ...way[n - 1], id }), someFacts({ ...way[n], id })];
        events.emit({ type: 'file', before, facts, note: null });
      }
    const traces = Map.groupBy(exporter.getFinishedSpans(), (span) => span.spanContext().traceId);
    expect([...traces.values()].map((spans) => spans.length)).toEqual([5, 5]);
  });

  test('an attempt that fails is a span of its own, with why', async () => {
    const events = await listen();
    const sending = someFacts({ ...created, uploadStartedAt: 2 });
    const retrying = { ...sending, notBefore: 99 };
    walk(events, way.slice(0, 4));
    events.emit({
      type: 'failure',
      facts: retrying,
      failure: failure('transient'),
      next: 'tried again',
      isRepeated: false,
    });
    events.emit({ type: 'file', before: sending, facts: retrying, note: null });
    events.emit({ type: 'file', before: retrying, facts: sending, note: null });
    events.emit({
      type: 'file',
      before: sending,
      facts: someFacts({ ...created, end: 'failed', why: 'gone' }),
      note: null,
    });
    const spans = exporter.getFinishedSpans();
    expect(tree(spans)).toEqual(['file > create', 'file > put failed', 'file > put', 'file failed']);
    expect(spans.at(-1)?.events[0]).toMatchObject({ name: 'failure', attributes: { 'dropcast.class': 'transient' } });
  });

  test('a file that came in before this start joins in where it is', async () => {
    const events = await listen();
    events.emit({ type: 'file', before: someFacts(uploaded), facts: someFacts(ready), note: null });
    walk(events, []);
    events.emit({ type: 'file', before: someFacts(ready), facts: someFacts({ ...ready, end: 'done' }), note: null });
    expect(tree(exporter.getFinishedSpans())).toEqual(['file > publish', 'file']);
  });

  test('what happens to a file after its end is no trace; a retry begins another one', async () => {
    const events = await listen();
    const done = someFacts({ ...ready, end: 'done' });
    events.emit({ type: 'file', before: done, facts: { ...done, disposal: 'moved' }, note: null });
    expect(exporter.getFinishedSpans()).toEqual([]);
    const failed = someFacts({ end: 'failed' });
    events.emit({ type: 'file', before: failed, facts: someFacts(), note: 'retry' });
    events.emit({ type: 'file', before: someFacts(), facts: failed, note: null });
    const [span] = exporter.getFinishedSpans();
    expect(span?.startTime[0]).toBeGreaterThan(1_000_000);
  });
});

test('without an SDK nothing listens, so it costs nothing', async () => {
  const events = { listen: () => expect.fail('it listens') };
  expect(await traceFiles({ events }, '1.2.3')).toBe(false);
});
