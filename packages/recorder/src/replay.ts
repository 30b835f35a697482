import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '@dropcast/sandbox/http/api-error';
import { answerRefusal } from '@dropcast/sandbox/http/exchange';
import { straightenTarget } from '@dropcast/sandbox/http/request-target';
import { isLoopbackHost } from '@dropcast/sandbox/loopback';
import { fits, hasHidden } from './cleaning/hidden.ts';
import { mostHeld } from './passing/body-capture.ts';
import type { RecordedExchange, RecordedMessage } from './recording.ts';

export interface ReplayOptions {
  readonly exchanges: readonly RecordedExchange[];
  /** Port to listen on; 0 (default) picks a free one. */
  readonly port?: number;
  /** Refuses repeats beyond the recording. By default, the last answer to a read is repeated. */
  readonly strict?: boolean;
  /** Called for each request without a recorded answer, with a sentence that names the nearest one. */
  readonly onMiss?: (sentence: string) => void;
}

/** A service that answers from a recording. */
export interface Replay extends AsyncDisposable {
  /** For example `http://127.0.0.1:PORT/v1`. */
  readonly baseUrl: string;
  /** Returns the exchanges that no request has matched yet, in order. */
  unused(): readonly RecordedExchange[];
  close(): Promise<void>;
}

/**
 * Answers requests from the recording, matched by method, path, query and JSON body, in the recorded order. Any key is
 * accepted and nothing is processed, so the program sets the pace.
 * @throws EADDRINUSE for a port in use
 */
export async function startReplay({ exchanges, port = 0, strict = false, onMiss }: ReplayOptions): Promise<Replay> {
  const server = createServer({ requestTimeout: 0, headersTimeout: 30_000 });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const script = new Script(exchanges, strict);
  server.on('request', (request, response) => {
    // An edited recording may contain a header that cannot be sent.
    answer(request, response).catch(() => response.destroy());
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!straightenTarget(request, isLoopbackHost))
      return refuse(response, 'misdirected_request', 'The Host header must name this machine.');
    const body = await jsonOf(request).catch(() => undefined);
    const found = script.next({ method: request.method ?? 'GET', target: request.url ?? '/', body });
    if (typeof found !== 'string') return send(found, { response, origin });
    onMiss?.(found);
    return refuse(response, 'not_found', found);
  };
  const close = async (): Promise<void> => {
    const closed = server.listening ? once(server, 'close') : undefined;
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { baseUrl: `${origin}/v1`, unused: () => script.unused(), close, [Symbol.asyncDispose]: close };
}

interface Asked {
  readonly method: string;
  readonly target: string;
  /** JSON body; undefined if there is none. */
  readonly body: unknown;
}

class Script {
  readonly #exchanges: readonly RecordedExchange[];
  readonly #used = new Set<RecordedExchange>();
  readonly #isStrict: boolean;

  constructor(exchanges: readonly RecordedExchange[], isStrict: boolean) {
    this.#exchanges = exchanges;
    this.#isStrict = isStrict;
  }

  unused(): readonly RecordedExchange[] {
    return this.#exchanges.filter((exchange) => !this.#used.has(exchange));
  }

  /** @returns a sentence if no exchange matches */
  next(asked: Asked): RecordedExchange | string {
    const atPlace = this.#exchanges.filter((exchange) => isAtPlace(exchange, asked));
    const fitting = atPlace.filter((exchange) => doesBodyFit(exchange, asked.body));
    const isRead = asked.method === 'GET' || asked.method === 'HEAD';
    const found =
      fitting.find((exchange) => !this.#used.has(exchange)) ?? (isRead && !this.#isStrict ? fitting.at(-1) : undefined);
    if (found === undefined) return this.#miss(asked, atPlace, fitting);
    this.#used.add(found);
    return found;
  }

  #miss({ method, target }: Asked, atPlace: readonly RecordedExchange[], fitting: readonly RecordedExchange[]): string {
    const what = `${method} ${target}`;
    if (fitting.length > 0) return `${what} was recorded ${fitting.length} times, and was requested once more.`;
    const numbers = atPlace.map(({ number }) => number).join(', ');
    if (atPlace.length > 0) return `${what} was recorded (exchange ${numbers}), but with another body.`;
    const near = this.#exchanges.filter((exchange) => exchange.method === method).map((exchange) => exchange.target);
    const others = [...new Set(near)].slice(0, 5).join(', ');
    return `${what} was not recorded.${others === '' ? '' : ` Recorded with ${method}: ${others}.`}`;
  }
}

function isAtPlace(exchange: RecordedExchange, { method, target }: Asked): boolean {
  return exchange.method === method && fits(inOrder(exchange.target), inOrder(target));
}

/** Normalises a target, so that the order of the parameters does not matter. */
function inOrder(target: string): string {
  const [path = '', ...query] = target.split('?');
  return query.length === 0 ? path : `${path}?${query.join('?').split('&').toSorted().join('&')}`;
}

function doesBodyFit({ request: { body } }: RecordedExchange, asked: unknown): boolean {
  if (body === undefined || !('json' in body)) return true;
  return isSame(body.json, asked);
}

/** Whether two JSON values are equal. Hidden parts of the recording match any text. */
function isSame(recorded: unknown, asked: unknown): boolean {
  if (typeof recorded === 'string' && (typeof asked === 'string' || typeof asked === 'number'))
    return fits(recorded, String(asked)) && (typeof asked === 'string' || hasHidden(recorded));
  if (typeof recorded !== 'object' || recorded === null || typeof asked !== 'object' || asked === null)
    return isDeepStrictEqual(recorded, asked);
  if (Array.isArray(recorded) !== Array.isArray(asked)) return false;
  const names = new Set([...Object.keys(recorded), ...Object.keys(asked)]);
  return [...names].every((name) =>
    isSame((recorded as Record<string, unknown>)[name], (asked as Record<string, unknown>)[name]),
  );
}

/** Reads JSON with any content type, as the recorder does. A longer body is a file, which is read and discarded. */
async function jsonOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes <= mostHeld) parts.push(part);
  }
  return bytes === 0 || bytes > mostHeld ? undefined : JSON.parse(Buffer.concat(parts).toString('utf8'));
}

function send(exchange: RecordedExchange, { response, origin }: { response: ServerResponse; origin: string }): void {
  const { answer, broken, method } = exchange;
  if (answer === undefined || broken !== undefined) return void response.destroy();
  const body = bodyOf(answer, origin);
  const shown = Object.entries(answer.headers).filter(([name, value]) => !ofTransfer.has(name) && !hasHidden(value));
  const length = method === 'HEAD' ? answer.headers['content-length'] : String(body.length);
  // An answer without a body has no length either (RFC 9110 section 8.6).
  const hasLength = length !== undefined && answer.status !== 204 && answer.status !== 304;
  response.writeHead(answer.status, [...shown.flat(), ...(hasLength ? ['content-length', length] : [])]);
  response.end(body);
}

/** Headers that describe the recorded connection and do not apply to this one. */
const ofTransfer: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'content-encoding']);

/** Maximum number of zero bytes that replace an unrecorded body. */
const mostZeros = 1024 * 1024;

/** Returns the body with upload addresses pointing to this service, or zeros if only size and hash were recorded. */
function bodyOf({ body }: RecordedMessage, origin: string): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  if ('bytes' in body) return Buffer.alloc(Math.min(body.bytes, mostZeros));
  const text = 'text' in body ? body.text : JSON.stringify(body.json);
  return Buffer.from(text.replaceAll(/https?:\/\/127\.0\.0\.1:\d+(\/uploads\/[^/\s"]+\/\d+)/g, `${origin}$1`));
}

function refuse(response: ServerResponse, code: 'misdirected_request' | 'not_found', why: string): void {
  answerRefusal(response, new ApiError(code, why), { Connection: 'close' });
}
