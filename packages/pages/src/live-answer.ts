/** The source of a live stream. */
export interface LiveSource {
  /** @returns a function that stops listening */
  listen(listener: (type: string) => void): () => void;
  /** Aborts when the server stops, which ends the streams. */
  readonly ended?: AbortSignal;
}

/** Minimum time between two messages in a stream. */
const BETWEEN_MESSAGES_MS = 250;

/** Interval between pings. The page considers the connection lost after 20 s without a message. */
const PING_MS = 15_000;

/**
 * How long a message may remain unread. If a client does not read, the kernel buffers the first few hundred messages.
 */
const UNREAD_MS = 30_000;

/**
 * Answers with the types of new events as server-sent events, batched into at most four messages a second. The stream
 * carries no content: a reader that needs the changes fetches the view again. At most one message waits for a slow
 * reader, and the stream of a reader that has stopped reading ends.
 *
 * @param request HEAD is answered without a stream, because nothing would read or cancel it
 */
export function liveAnswer(request: Request, source: LiveSource): Response {
  return new Response(request.method === 'HEAD' ? null : stream(source), {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  });
}

function stream(source: LiveSource): ReadableStream<Uint8Array> {
  let live: LiveStream | undefined;
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        live = new LiveStream(source, controller);
      },
      pull: () => live?.read(),
      cancel: () => live?.end(),
    },
    { highWaterMark: 0 },
  );
}

/** One reader's stream, which sends when the reader wants more and there is something to send. */
class LiveStream {
  readonly #controller: ReadableStreamDefaultController<Uint8Array>;
  readonly #heard = new Set<string>();
  readonly #stopListening: () => void;
  #isNew = true;
  #isWanted = false;
  #nextAtMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({ listen, ended }: LiveSource, controller: ReadableStreamDefaultController<Uint8Array>) {
    this.#controller = controller;
    const close = (): void => {
      this.end();
      controller.close();
    };
    const stopListening = listen((type) => {
      this.#heard.add(type);
      if (this.#isWanted) this.#plan();
    });
    this.#stopListening = () => {
      stopListening();
      ended?.removeEventListener('abort', close);
    };
    if (ended?.aborted === true) close();
    else ended?.addEventListener('abort', close);
  }

  /** Called when the reader has received what was sent and wants more. */
  read(): void {
    this.#isWanted = true;
    if (this.#isNew) this.#send('ready');
    else this.#plan();
  }

  end(): void {
    this.#stopListening();
    clearTimeout(this.#timer);
  }

  #plan(): void {
    if (this.#heard.size > 0) this.#in(this.#nextAtMs - performance.now(), () => this.#send('changes'));
    else this.#in(PING_MS, () => this.#send('ping'));
  }

  #send(event: 'ready' | 'changes' | 'ping'): void {
    this.#isNew = false;
    this.#isWanted = false;
    this.#controller.enqueue(encoder.encode(`event: ${event}\ndata: ${[...this.#heard].join(' ')}\n\n`));
    this.#heard.clear();
    this.#nextAtMs = performance.now() + BETWEEN_MESSAGES_MS;
    this.#in(UNREAD_MS, () => {
      this.end();
      this.#controller.error(new Error('the reader of a live stream stopped reading'));
    });
  }

  /** Sets the stream's only timer, which does not keep the process alive. */
  #in(ms: number, act: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(act, Math.max(0, ms)).unref();
  }
}

const encoder = new TextEncoder();
