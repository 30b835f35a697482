import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { ApiError } from '../http/api-error.ts';
import { answerRefusal } from '../http/exchange.ts';
import { straightenTarget } from '../http/request-target.ts';
import { isLoopbackHost } from '../loopback.ts';
import { cleanMessage, cleanTarget, type Cleaning } from './clean-message.ts';
import { createForwarder, type Forwarder } from './forward.ts';
import { KnownSecrets } from './known-secrets.ts';
import { passOn, type Passed } from './pass-on.ts';
import { recordingVersion, type RecordedExchange } from './recording.ts';
import { RecordingFile } from './recording-file.ts';
import { UploadAddresses, withoutLocalTokens } from './upload-addresses.ts';

export interface RecorderOptions {
  /** Base address of the service with its version; https, or http on this machine. */
  readonly to: string;
  /** The recording; must not exist. */
  readonly file: string;
  /** 0 (default) = any free port. */
  readonly port?: number;
  /** A certificate (PEM) to trust in addition to the system's. */
  readonly ca?: string;
  /** Names of JSON fields whose texts are not recorded. Default: none. */
  readonly redact?: readonly string[];
  /** Called when an exchange has been written. */
  readonly onExchange?: (exchange: RecordedExchange) => void;
  /** Called with the error of the disk when an exchange cannot be written. Requests are then refused. */
  readonly onTrouble?: (error: unknown) => void;
}

/** Stands between a program and a service, and records what they say to each other. */
export interface Recorder extends AsyncDisposable {
  /** What the program takes for the service, `http://127.0.0.1:PORT/v1`. */
  readonly baseUrl: string;
  /** Ends when what is under way has ended, and the recording is on the disk. */
  close(): Promise<void>;
}

/**
 * Starts a recorder on 127.0.0.1. It keeps no key and no signed address on the disk.
 * @throws TypeError for an address that is neither https nor on this machine; EEXIST for a file that exists; EADDRINUSE for a port that is taken
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
  server.on('request', (request, response) => recording.take(request, response, false));
  server.on('checkContinue', (request, response) => recording.take(request, response, true));
  cleanup.defer(() => recording.ended());
  const resources = cleanup.move();
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    server.close();
    server.closeIdleConnections();
    closing ??= resources.disposeAsync();
    return closing;
  };
  return { baseUrl: `${origin}/v1`, close, [Symbol.asyncDispose]: close };
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
  #number = 0;
  #trouble: unknown;

  constructor(options: RecorderOptions, around: Around) {
    this.#options = options;
    this.#around = around;
    const secrets = new KnownSecrets();
    this.#cleaning = { secrets, redacted: new Set(options.redact) };
    this.#addresses = new UploadAddresses(secrets);
  }

  take(request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void {
    const work = this.#pass(request, response, awaitsContinue).finally(() => this.#running.delete(work));
    this.#running.add(work);
  }

  async ended(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #pass(request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): Promise<void> {
    // A page whose name resolves to 127.0.0.1 must not use the key of a program.
    if (!straightenTarget(request, isLoopbackHost))
      return refuse(response, 'misdirected_request', 'The Host header must name this machine.');
    if (this.#trouble !== undefined)
      return refuse(response, 'server_error', 'The recorder cannot write its recording.');
    const destination = this.#destination(request.url ?? '/');
    if (destination === undefined)
      return refuse(response, 'not_found', 'The recorder has /v1, and the upload addresses that it gave.');
    const { url, name } = destination;
    const begun = { number: (this.#number += 1), at: new Date().toISOString(), startedAt: performance.now() };
    const upstream = this.#around.forwarder.open(request, url);
    const rewrite = (text: string): string => this.#addresses.replaceIn(text, this.#around.origin);
    const passed = await passOn({ request, response, awaitsContinue, upstream, rewrite });
    await this.#write(this.#recorded(request, { ...begun, name, passed }));
  }

  #destination(target: string): { readonly url: URL; readonly name: string } | undefined {
    const { pathname, search } = new URL(target, this.#around.origin);
    const upload = this.#addresses.find(pathname);
    if (upload !== undefined) return upload;
    if (pathname !== '/v1' && !pathname.startsWith('/v1/')) return undefined;
    const url = new URL(this.#around.to.href.replace(/\/$/, '') + pathname.slice('/v1'.length) + search);
    return { url, name: cleanTarget(target) };
  }

  #recorded(
    { method = 'GET', headers }: IncomingMessage,
    { passed, name, ...begun }: { number: number; at: string; startedAt: number; name: string; passed: Passed },
  ): RecordedExchange {
    const { answer, broken } = passed;
    const exchange: RecordedExchange = {
      kind: 'exchange',
      number: begun.number,
      at: begun.at,
      ms: Math.round(performance.now() - begun.startedAt),
      method,
      target: name,
      request: cleanMessage(headers, passed.request, this.#cleaning),
      ...(answer && {
        answer: { status: answer.status, ...cleanMessage(answer.headers, answer.body, this.#cleaning) },
      }),
      ...(broken !== undefined && { broken }),
    };
    return JSON.parse(this.#cleaning.secrets.remove(withoutLocalTokens(JSON.stringify(exchange)))) as RecordedExchange;
  }

  async #write(exchange: RecordedExchange): Promise<void> {
    try {
      await this.#around.file.add(exchange);
      this.#options.onExchange?.(exchange);
    } catch (error) {
      this.#trouble = error;
      this.#options.onTrouble?.(error);
    }
  }
}

function refuse(
  response: ServerResponse,
  code: 'misdirected_request' | 'server_error' | 'not_found',
  why: string,
): void {
  answerRefusal(response, new ApiError(code, why), { Connection: 'close' });
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
