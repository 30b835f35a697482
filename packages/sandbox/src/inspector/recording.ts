import type { IncomingMessage, ServerResponse } from 'node:http';
import { isUploadPath } from '../http/operations.ts';

/** Everything observed of one exchange, unmodified, so including its secrets. */
export interface Recording {
  /** Alternating names and values, as the client sent them. */
  readonly requestHeaders: readonly string[];
  readonly requestBody: RecordedBody;
  /** Status line and header fields as sent; '' until they are sent. */
  readonly answerHead: string;
  readonly answerBody: RecordedBody;
  /**
   * Times in this and the next two fields are ms of real time since the request's headers arrived; null before the
   * event.
   */
  readonly receivedMs: number | null;
  readonly firstByteMs: number | null;
  readonly sentMs: number | null;
}

/**
 * Records what the service reads of the request and writes as the answer, without reading or writing anything itself.
 * Must be called before the first byte of the body arrives, that is, in the same turn as the 'request' event. Bytes
 * held back by a fault are not read.
 */
export function record(request: IncomingMessage, response: ServerResponse): Recording {
  const startMs = performance.now();
  const now = () => Math.round(performance.now() - startMs);
  const recording: Mutable<Recording> = {
    requestHeaders: request.rawHeaders,
    requestBody: new RecordedBody(),
    answerHead: '',
    answerBody: new RecordedBody(),
    receivedMs: null,
    firstByteMs: null,
    sentMs: null,
  };
  recordRequestBody(request, recording, now);
  recordAnswer(request, response, { recording, now });
  return recording;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Records the body by wrapping `push`, through which Node's HTTP parser delivers it. Listening to 'data' instead would
 * start the flow.
 */
function recordRequestBody(request: IncomingMessage, recording: Mutable<Recording>, now: () => number): void {
  const push = request.push.bind(request);
  const { 'content-type': type, 'content-encoding': encoding } = request.headers;
  const isText = !isUploadPath(request.url ?? '') && isTextType(type, encoding);
  const expected = Number(request.headers['content-length'] ?? Number.NaN);
  request.push = (chunk: Buffer | null) => {
    if (chunk !== null) recording.requestBody.take(chunk, isText);
    // Node signals no end for the body of a request that was answered early, so its last byte marks the end too.
    const hasEnded = chunk === null || recording.requestBody.sizeBytes === expected;
    if (hasEnded && recording.receivedMs === null) {
      recording.requestBody.end();
      recording.receivedMs = now();
    }
    return push(chunk);
  };
}

interface Notes {
  readonly recording: Mutable<Recording>;
  readonly now: () => number;
}

function recordAnswer(request: IncomingMessage, response: ServerResponse, { recording, now }: Notes): void {
  const originals = {
    writeHead: response.writeHead.bind(response),
    flushHeaders: response.flushHeaders.bind(response),
    write: response.write.bind(response),
    end: response.end.bind(response),
  };
  const noteHead = () => {
    if (recording.answerHead !== '' || !response.headersSent) return;
    recording.answerHead = headOf(response);
    recording.firstByteMs = now();
  };
  const noteBody = (chunk: unknown, encoding: unknown) => {
    if (!hasAnswerBody(request.method, response.statusCode)) return;
    const isText = isTextType(
      field(recording.answerHead, 'content-type'),
      field(recording.answerHead, 'content-encoding'),
    );
    const bytes = bytesOf(chunk, encoding);
    if (bytes) recording.answerBody.take(bytes, isText);
  };
  const call = <T>(original: (...given: never[]) => T, given: readonly unknown[]): T => {
    const result = Reflect.apply(original, response, given) as T;
    noteHead();
    return result;
  };
  response.writeHead = (...given: unknown[]) => call(originals.writeHead, given);
  response.flushHeaders = () => call(originals.flushHeaders, []);
  response.write = (...given: unknown[]) => {
    const result = call(originals.write as () => boolean, given);
    noteBody(given[0], given[1]);
    return result;
  };
  response.end = (...given: unknown[]) => {
    call(originals.end as () => ServerResponse, given);
    noteBody(given[0], given[1]);
    return response;
  };
  response.once('finish', () => {
    recording.answerBody.end();
    recording.sentMs = now();
  });
}

/**
 * Returns the answer's status line and headers as sent. Only `_header` has them: `getHeaders` lacks those passed to
 * `writeHead`.
 */
function headOf(response: ServerResponse): string {
  // oxlint-disable-next-line no-underscore-dangle -- Node's own name for it
  return (response as ServerResponse & { readonly _header?: string | null })._header ?? '';
}

/** Returns whether the answer has a body. Node drops the body where none is allowed (RFC 9110 section 6.4.1). */
function hasAnswerBody(method: string | undefined, status: number): boolean {
  return method !== 'HEAD' && status !== 204 && status !== 304;
}

function bytesOf(chunk: unknown, encoding: unknown): Uint8Array | undefined {
  if (typeof chunk === 'string')
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as 'utf8') : 'utf8');
  return chunk instanceof Uint8Array ? chunk : undefined;
}

/** Returns the value of a field in a header block. @param name in lower case */
function field(head: string, name: string): string | undefined {
  return headerPairs(head).find(([known]) => known.toLowerCase() === name)?.[1];
}

/** Returns the fields of a header block, without its status line. */
export function headerPairs(head: string): [name: string, value: string][] {
  return head
    .split('\r\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
}

/** Bytes kept of a text body: enough for a list of 100 videos. */
const MOST_TEXT_BYTES = 64 * 1024;

/** Bytes kept of any other body: enough to recognise a container format. */
const MOST_OTHER_BYTES = 32;

/** The beginning of a body, collected as it passes through. Of media, only the first bytes are copied. */
export class RecordedBody {
  readonly #chunks: Buffer[] = [];
  #keptBytes = 0;
  #sizeBytes = 0;
  #isComplete = false;
  #isText = false;

  /** Number of bytes that have passed through. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Number of bytes that are kept. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Whether the body has a text type. */
  get isText(): boolean {
    return this.#isText;
  }

  /** Returns the kept beginning of the body. */
  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  take(chunk: Uint8Array, isText: boolean): void {
    this.#sizeBytes += chunk.length;
    this.#isText = isText;
    const room = (isText ? MOST_TEXT_BYTES : MOST_OTHER_BYTES) - this.#keptBytes;
    if (room <= 0 || chunk.length === 0) return;
    const part = Buffer.from(chunk.subarray(0, room)); // a copy: the slice would keep its whole read buffer alive
    this.#chunks.push(part);
    this.#keptBytes += part.length;
  }

  end(): void {
    this.#isComplete = true;
  }
}

/**
 * Returns whether a body of this type is worth reading. A body without a type counts as text: the API refuses such
 * bodies, and users want to see why.
 */
function isTextType(contentType: string | undefined, contentEncoding: string | undefined): boolean {
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') return false;
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type === '' || /^text\/|[/+](json|xml|yaml|javascript|x-www-form-urlencoded)$/.test(type);
}
