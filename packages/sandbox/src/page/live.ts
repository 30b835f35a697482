import type { Context } from 'hono';
import { streamSSE, type SSEStreamingApi } from 'hono/streaming';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Events, EventType } from '../events.ts';
import type { Handler } from '../http/handler.ts';

/**
 * GET /_page/live: the types of new events, as server-sent events, batched into at most four messages a
 * second. It carries no content: a client that needs to know what has changed fetches the view again.
 */
export function liveEvents(events: Events): Handler {
  return (context: Context) => {
    // A stream in answer to HEAD would never be read or cancelled.
    if (context.req.method === 'HEAD') return context.body(null, 200, { 'Content-Type': 'text/event-stream' });
    return streamSSE(context, (stream) => tell(stream, events));
  };
}

const BETWEEN_MESSAGES_MS = 250;

/** Below the two minutes after which the server ends a silent connection; the page notices a lost one by it. */
const HEARTBEAT_MS = 15_000;

async function tell(stream: SSEStreamingApi, events: Events): Promise<void> {
  const ended = new AbortController();
  stream.onAbort(() => ended.abort());
  const heard = new Set<EventType>();
  let somethingHeard = Promise.withResolvers<void>();
  const stopListening = events.listen(({ type }) => {
    heard.add(type);
    somethingHeard.resolve();
  });
  try {
    await stream.writeSSE({ event: 'ready', data: '' });
    while (!ended.signal.aborted) {
      await Promise.race([somethingHeard.promise, pause(HEARTBEAT_MS, ended.signal)]);
      const types = [...heard];
      heard.clear();
      somethingHeard = Promise.withResolvers();
      await (types.length === 0
        ? stream.write(': still here\n\n')
        : stream.writeSSE({ event: 'changes', data: types.join(' ') }));
      await pause(BETWEEN_MESSAGES_MS, ended.signal);
    }
  } finally {
    stopListening();
  }
}

/** Ends early with the connection, and keeps no process alive. */
async function pause(ms: number, ended: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: ended, ref: false }).catch(() => undefined);
}
