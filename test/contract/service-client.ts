import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import type { SandboxOptions } from '../../packages/sandbox/src/options.ts';
import { readSample, runSandbox, until, type Json, type RunningSandbox } from '../sandbox/running-sandbox.ts';
import { checkExchange } from './contract.ts';

export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  /** What is no text and no bytes is sent as JSON, with its content type. */
  readonly body?: unknown;
}

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  /** What JSON stands for; a text for other types, undefined for no body. */
  readonly body: Json;
}

/**
 * Talks to a running service over http, or over TLS with the certificate that the service gives out, and holds each exchange
 * with the API and with an upload address against the contract, as it came over the wire.
 */
export class ServiceClient implements AsyncDisposable {
  readonly service: RunningSandbox;
  readonly #ca: Buffer | undefined;

  private constructor(service: RunningSandbox) {
    this.service = service;
    this.#ca = service.sandbox.caPath === undefined ? undefined : readFileSync(service.sandbox.caPath);
  }

  static async start(options: SandboxOptions): Promise<ServiceClient> {
    return new ServiceClient(await runSandbox(options));
  }

  /** A request to the API with the key, below the base address. */
  call(method: string, path: string, sent: Sent = {}): Promise<Received> {
    const authorization = `Bearer ${this.service.sandbox.apiKey}`;
    return this.send(method, this.service.sandbox.baseUrl + path, {
      ...sent,
      headers: { authorization, ...sent.headers },
    });
  }

  /** A request to the admin side. */
  admin(method: string, path: string, body?: unknown): Promise<Received> {
    const { adminUrl, adminToken } = this.service.sandbox;
    return this.send(method, adminUrl + path, { headers: { authorization: `Bearer ${adminToken}` }, body });
  }

  async create(fields: Record<string, unknown> = {}): Promise<Json> {
    return (await this.call('POST', '/videos', { body: { title: 'A clip', channel_id: 'ch_news', ...fields } })).body;
  }

  /** Creates a video, uploads the sample to it and waits for its end. */
  async upload(sample: string, fields: Record<string, unknown> = {}): Promise<Json> {
    const { id, upload_url } = await this.create(fields);
    await this.send('PUT', upload_url, { body: await readSample(sample) });
    return this.ended(id);
  }

  async ended(id: string): Promise<Json> {
    return until(async () => {
      const video = (await this.call('GET', `/videos/${id}`)).body.data;
      return ['ready', 'failed'].includes(video.status) ? video : undefined;
    });
  }

  async send(method: string, url: string, { headers = {}, body }: Sent): Promise<Received> {
    const isJson = body !== undefined && typeof body !== 'string' && !Buffer.isBuffer(body);
    const bytes = isJson ? JSON.stringify(body) : body;
    const sent = new Headers({
      ...(isJson && { 'content-type': 'application/json' }),
      ...(bytes !== undefined && { 'content-length': String(Buffer.byteLength(bytes)) }),
      ...headers,
    });
    const response = await this.#answer(method, url, { headers: sent, body: bytes });
    const received = { status: response.statusCode ?? 0, headers: headersOf(response) };
    const responseBody = await text(response);
    const requestBody = Buffer.isBuffer(bytes) ? undefined : (bytes ?? '');
    const exchange = { method, url, requestHeaders: sent, requestBody, status: received.status };
    if (isOfContract(url)) requireKept(checkExchange({ ...exchange, responseHeaders: received.headers, responseBody }));
    return { ...received, body: valueOf(received.headers, responseBody) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service.sandbox.close();
  }

  async #answer(
    method: string,
    url: string,
    { headers, body }: { headers: Headers; body: string | Buffer | undefined },
  ): Promise<IncomingMessage> {
    const options = { method, headers: Object.fromEntries(headers), agent: false } as const;
    const request = url.startsWith('https:')
      ? requestHttps(url, { ...options, ...(this.#ca && { ca: this.#ca }) })
      : requestHttp(url, options);
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  }
}

function isOfContract(url: string): boolean {
  return /^\/(v1|uploads)(\/|$)/.test(new URL(url).pathname);
}

function requireKept(problems: string[]): void {
  if (problems.length > 0) throw new Error(`against openapi.yaml: ${problems.join('; ')}`);
}

function headersOf(response: IncomingMessage): Headers {
  return new Headers(
    Object.entries(response.headersDistinct).map(([name, values]) => [name, (values ?? []).join(', ')]),
  );
}

function valueOf(headers: Headers, body: string): Json {
  if (body === '') return undefined;
  return headers.get('content-type')?.includes('json') ? JSON.parse(body) : body;
}
