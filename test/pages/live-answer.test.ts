import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { liveAnswer, type LiveSource } from '@dropcast/pages';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A source whose listeners are counted. */
class Source implements LiveSource {
  readonly listeners = new Set<(type: string) => void>();
  readonly stop = new AbortController();
  readonly ended = this.stop.signal;

  listen = (listener: (type: string) => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  emit(...types: string[]): void {
    for (const type of types) for (const listener of this.listeners) listener(type);
  }
}

function open(source: Source): () => Promise<string | undefined> {
  const reader = liveAnswer(new Request('http://x/live'), source)
    .body?.pipeThrough(new TextDecoderStream())
    .getReader();
  return async () => (await reader?.read())?.value;
}

test('says that it is ready, then the types of what happened, each once', async () => {
  const source = new Source();
  const next = open(source);
  expect(await next()).toBe('event: ready\ndata: \n\n');
  source.emit('settled', 'settled', 'progress');
  await vi.advanceTimersByTimeAsync(250);
  expect(await next()).toBe('event: changes\ndata: settled progress\n\n');
});

test('sends at most four messages a second, however much happens', async () => {
  const source = new Source();
  const next = open(source);
  const heard: (string | undefined)[] = [];
  void (async () => {
    for (;;) heard.push(await next());
  })();
  for (let ms = 0; ms < 10_000; ms += 10) {
    source.emit('x');
    await vi.advanceTimersByTimeAsync(10);
  }
  expect(heard.length).toBeGreaterThan(35);
  expect(heard.length).toBeLessThanOrEqual(42);
});

test('says every 15 s that it is still there', async () => {
  const source = new Source();
  const next = open(source);
  await next();
  const ping = next();
  await vi.advanceTimersByTimeAsync(15_000);
  expect(await ping).toBe('event: ping\ndata: \n\n');
});

test('one message waits for a slow reader, with all that happened since, and a reader who stopped reading is let go', async () => {
  const source = new Source();
  const body = liveAnswer(new Request('http://x/live'), source).body;
  const reader = body?.getReader();
  await reader?.read();
  const unread = reader?.read();
  for (let index = 0; index < 10_000; index += 1) source.emit(`type-${index % 3}`);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(source.listeners.size).toBe(1);
  expect(new TextDecoder().decode((await unread)?.value)).toBe('event: changes\ndata: type-0 type-1 type-2\n\n');
  await vi.advanceTimersByTimeAsync(30_000);
  expect(source.listeners.size).toBe(0);
  await expect(reader?.read()).rejects.toThrow('stopped reading');
});

test('ends at once when the server stops, and for one that has stopped before', async () => {
  const source = new Source();
  const next = open(source);
  await next();
  const last = next();
  source.stop.abort();
  expect(await last).toBeUndefined();
  expect(await open(source)()).toBeUndefined();
  expect(source.listeners.size).toBe(0);
});

test('a reader who leaves, or sends HEAD, leaves no listener behind', async () => {
  const source = new Source();
  const { body } = liveAnswer(new Request('http://x/live'), source);
  expect(source.listeners.size).toBe(1);
  await body?.cancel();
  expect(source.listeners.size).toBe(0);
  const answer = liveAnswer(new Request('http://x/live', { method: 'HEAD' }), source);
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  expect(source.listeners.size).toBe(0);
});
