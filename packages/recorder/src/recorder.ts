import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { ApiError } from '@dropcast/sandbox/http/api-error';
import { lingerThenCut, refuseEarly, type Exchange } from '@dropcast/sandbox/http/exchange';
import { straightenTarget } from '@dropcast/sandbox/http/request-target';
import { isLoopbackHost } from '@dropcast/sandbox/loopback';
import type { CapturedBody } from './passing/body-capture.ts';
import { cleanMessage, cleanTarget, withoutKnown, type Cleaning } from './cleaning/clean-message.ts';
import { createForwarder, type Forwarder } from './passing/forward.ts';
import { KnownSecrets } from './cleaning/known-secrets.ts';
import { passOn, type Passed } from './passing/pass-on.ts';
import { recordingVersion, type RecordedExchange, RecordingFile } from './recording.ts';
import { placeOf, UploadAddresses, type RealAddress } from './upload-addresses.ts';

export interface RecorderOptions {
  /** Base address of the service, including the version: https, or http on this machine. */
  readonly to: string;
  /** Path of the recording, where no file may exist yet. */
  readonly file: string;
  /** Port to listen on; 0 (default) picks a free one. */
  readonly port?: number;
  /** A certificate (PEM) to trust in addition to the system's. */
  readonly ca?: string;
  /** Names of JSON fields whose text is not recorded. Default: none. */
  readonly redact?: readonly string[];
  /**
   * Additional origins to which `Authorization` and cookies are sent with an upload. Default: none, because a program
   * that mistakes the recorder for the service sends its key with uploads.
   */
  readonly sendKeyTo?: readonly string[];
  /** Called after an exchange has been written. */
  readonly onExchange?: (exchange: RecordedExchange) => void;
  /** Called with the disk error if an exchange cannot be written. From then on all requests are refused. */
  readonly onTrouble?: (error: unknown) => void;
}

/** A proxy between a program and a service that records their traffic. */
export interface Recorder extends AsyncDisposable {
  /** Base address for the program, `http://127.0.0.1:PORT/v1`. */
  readonly baseUrl: string;
  /** Number of requests in progress. */
  readonly underWay: number;
  /**
   * Refuses new requests and resolves when the recording is on disk.
   * @param withinMs time after which running requests are aborted on both sides; 10,000 by default
   */
  close(withinMs?: number): Promise<void>;
}

/**
 * Starts a recorder on 127.0.0.1. It writes neither keys nor signed addresses to disk.
 * @throws TypeError for an address that is neither https nor on this machine; EEXIST for an existing file; EADDRINUSE
 *   for a port in use
 */
export async function startRecorder(options: RecorderOptions): Promise<Recorder> {
  const to = serviceAddress(options.to);
  await using cleanup = new AsyncDisposableStack();
  const server = createServer({ requestTimeout: 0, headersTimeout: 30_000, highWaterMark: 1 << 20 });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.defer(() => void server.close());
  const head = { kind: 'recording', v: recordingVersion, to: to.href, at: new Date().toISOString() } as const;
  const file = cleanup.use(await RecordingFile.create(options.file, head));
  const forwarder = cleanup.use(createForwarder(options.ca));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const recording = new RecordingDesk(options, { to, origin, file, forwarder });
  server.on('request', (request, response) => recording.take({ request, response, awaitsContinue: false }));
  server.on('checkContinue', (request, response) => recording.take({ request, response, awaitsContinue: true }));
  cleanup.defer(() => recording.ended());
  const resources = cleanup.move();
  let closing: Promise<void> | undefined;
  const close = async (withinMs = 10_000): Promise<void> => {
    server.close();
    server.closeIdleConnections();
    const timer = setTimeout(() => recording.breakUp(), withinMs);
    closing ??= resources.disposeAsync();
    await closing.finally(() => clearTimeout(timer));
  };
  return {
    baseUrl: `${origin}/v1`,
    get underWay() {
      return recording.underWay;
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

interface Around {
  readonly to: URL;
  readonly origin: string;
  readonly file: RecordingFile;
  readonly forwarder: Forwarder;
}

class RecordingDesk {
  readonly #options: RecorderOptions;
  readonly #around: Around;
  readonly #cleaning: Cleaning;
  readonly #addresses: UploadAddresses;
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #trusted: ReadonlySet<string>;
  #number = 0;
  #trouble: unknown;

  constructor(options: RecorderOptions, around: Around) {
    this.#options = options;
    this.#around = around;
    const secrets = new KnownSecrets();
    this.#cleaning = { secrets, redacted: new Set(options.redact) };
    this.#addresses = new UploadAddresses(secrets, around.origin, around.to);
    this.#trusted = new Set([around.to.origin, ...(options.sendKeyTo ?? []).map(originOf)]);
  }

  get underWay(): number {
    return this.#running.size;
  }

  breakUp(): void {
    this.#stop.abort('the recorder was stopped');
  }

  take(exchange: Exchange): void {
    const work = this.#pass(exchange)
      .catch((error: unknown) => {
        exchange.response.destroy();
        this.#failed(error);
      })
      .finally(() => this.#running.delete(work));
    this.#running.add(work);
  }

  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #pass(exchange: Exchange): Promise<void> {
    const { request } = exchange;
    // A web page whose host name resolves to 127.0.0.1 must not use a program's key.
    if (!straightenTarget(request, isLoopbackHost))
      return refuse(exchange, 'misdirected_request', 'The Host header must name this machine.');
    if (this.#trouble !== undefined)
      return refuse(exchange, 'server_error', 'The recorder cannot write its recording.');
    const destination = this.#destination(request.url ?? '/');
    if (destination === undefined)
      return refuse(exchange, 'not_found', 'The recorder has /v1, and the upload addresses that it gave.');
    const begun = { number: (this.#number += 1), at: new Date().toISOString(), startedAt: performance.now() };
    const mayHaveKey = this.#trusted.has(destination.url.origin);
    const upstream = this.#around.forwarder.open(request, destination.url, mayHaveKey);
    const rewrite = (body: Buffer): Buffer => this.#addresses.replaceIn(body);
    const { signal: stop } = this.#stop;
    const passed = await passOn({ ...exchange, upstream, rewrite, stop });
    await this.#write(this.#recorded(request, { ...begun, ...destination, mayHaveKey, passed }));
  }

  #destination(target: string): Destination | undefined {
    // Some parsers treat a backslash as a slash.
    if (!target.startsWith('/') || target.includes('\\')) return undefined;
    const [path = '', ...query] = target.split('?');
    const upload = this.#addresses.find(path);
    if (upload !== undefined) return { ...withQuery(upload, query.join('?')), isUpload: true };
    if (path !== '/v1' && !path.startsWith('/v1/')) return undefined;
    const url = new URL(this.#around.to.href.replace(/\/$/, '') + target.slice('/v1'.length));
    return { url, name: target, isUpload: false };
  }

  #recorded({ method = 'GET', headersDistinct }: IncomingMessage, done: Done): RecordedExchange {
    const { answer, broken, interim } = done.passed;
    const cleaning = { ...this.#cleaning, isUpload: done.isUpload };
    const request = cleanMessage(headersDistinct, withoutFile(done), cleaning);
    const exchange = {
      target: cleanTarget(done.name, cleaning),
      request,
      ...(answer && { answer: { status: answer.status, ...cleanMessage(answer.headers, answer.body, cleaning) } }),
      ...(interim.length > 0 && { interim: [...interim] }),
      ...(done.isUpload && { upload: placeOf(done.url, Date.parse(done.at)) }),
      ...(broken !== undefined && { broken }),
    };
    if (!done.mayHaveKey && request.headers['authorization'] !== undefined)
      request.headers['authorization'] += ` (not sent to ${done.url.origin})`;
    return {
      kind: 'exchange',
      number: done.number,
      at: done.at,
      ms: Math.round(performance.now() - done.startedAt),
      method,
      ...(withoutKnown(exchange, this.#cleaning.secrets) as typeof exchange),
    };
  }

  async #write(exchange: RecordedExchange): Promise<void> {
    try {
      await this.#around.file.add(exchange);
      this.#options.onExchange?.(exchange);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Stops accepting requests after an error, because no request may go unrecorded. */
  #failed(error: unknown): void {
    this.#trouble = error;
    this.#options.onTrouble?.(error);
  }
}

interface Destination {
  readonly url: URL;
  /** Target for the recording, still to be cleaned. */
  readonly name: string;
  readonly isUpload: boolean;
}

interface Done extends Destination {
  readonly number: number;
  readonly at: string;
  readonly startedAt: number;
  readonly mayHaveKey: boolean;
  readonly passed: Passed;
}

/** Appends what the program adds to the query, such as a part number. */
function withQuery({ url, name, mark }: RealAddress, query: string): Pick<Destination, 'url' | 'name'> {
  if (query === '') return { url, name };
  const added = query.startsWith(mark) ? query.slice(mark.length).replace(/^&/, '') : query;
  const whole = new URL(url);
  if (added !== '') whole.search = url.search === '' ? added : `${url.search}&${added}`;
  return { url: whole, name: `${name}?${query}` };
}

/** Removes the text of an uploaded body. Size and hash suffice for a file, even if it looks like text. */
function withoutFile({ isUpload, passed: { request } }: Done): CapturedBody {
  return isUpload ? { ...request, text: undefined } : request;
}

function refuse(exchange: Exchange, code: 'misdirected_request' | 'server_error' | 'not_found', why: string): void {
  refuseEarly(exchange, new ApiError(code, why));
  lingerThenCut(exchange.request);
}

/** @throws TypeError for anything other than an origin */
function originOf(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new TypeError(`${text} is not the address of an origin, such as https://uploads.example.com`);
  return url.origin;
}

function serviceAddress(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw new TypeError(`${text} is not a web address`);
  if (url.username !== '' || url.password !== '')
    throw new TypeError('the address must not contain a user name or a password');
  if (url.search !== '' || url.hash !== '') throw new TypeError('the address must not have a query or a fragment');
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    throw new TypeError(
      'the address must start with https://; http:// is for this machine only, because the key would cross the network',
    );
  return url;
}
