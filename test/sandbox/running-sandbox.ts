import { readFile } from 'node:fs/promises';
import type { SandboxOptions } from '../../packages/sandbox/src/options.ts';
import { startSandbox, type Sandbox } from '../../packages/sandbox/src/sandbox.ts';
import { checkExchange } from '../contract/contract.ts';
import { ContractWatch } from '../contract/watched.ts';
import { until as untilThere } from '../support/until.ts';

/**
 * A sandbox with processing so short that no test waits for it, and a client that knows its key. Every exchange of its API
 * is held against the contract; closing fails when one was not as the contract says.
 */
export async function runSandbox(options: SandboxOptions = {}): Promise<RunningSandbox> {
  const watch = new ContractWatch();
  const sandbox = await startSandbox({ processingMs: { min: 1, max: 2 }, onExchange: watch.onExchange, ...options });
  return new RunningSandbox(watched(sandbox, watch));
}

function watched(sandbox: Sandbox, watch: ContractWatch): Sandbox {
  const close = async () => {
    await sandbox.close();
    watch.assertKept();
  };
  return { ...sandbox, close, [Symbol.asyncDispose]: close };
}

// oxlint-disable-next-line no-explicit-any -- tests reach into answers freely; a wrong shape fails their expectations
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

export class RunningSandbox implements AsyncDisposable {
  readonly sandbox: Sandbox;

  constructor(sandbox: Sandbox) {
    this.sandbox = sandbox;
  }

  /** Sends a request with the key; a body that is no string is sent as JSON. */
  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(this.sandbox.baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${this.sandbox.apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return answerOf(response);
  }

  async create(fields: Record<string, unknown> = {}): Promise<{ id: string; upload_url: string; status: string }> {
    const { status, body } = await this.call('POST', '/videos', { title: 'A clip', channel_id: 'ch_news', ...fields });
    if (status !== 201) throw new Error(`POST /videos answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  /** Creates a video, uploads the sample file to it and waits for its end. */
  async upload(sample: string, fields: Record<string, unknown> = {}): Promise<Json> {
    const { id, upload_url } = await this.create(fields);
    await put(upload_url, await readSample(sample));
    return this.ended(id);
  }

  /** Waits until the video is ready or failed. */
  async ended(id: string): Promise<Json> {
    return until(async () => {
      const video = (await this.call('GET', `/videos/${id}`)).body.data;
      return ['ready', 'failed'].includes(video.status) ? video : undefined;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sandbox.close();
  }
}

/** Uploads the bytes, and holds the exchange against the contract. */
export async function put(
  url: string,
  bytes: Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await answerOf(await fetch(url, { method: 'PUT', body: bytes, headers }));
  const requestHeaders = new Headers({ ...headers, 'content-length': String(bytes.length) });
  const responseBody = answer.body === undefined ? '' : JSON.stringify(answer.body);
  const { status, headers: responseHeaders } = answer;
  const problems = checkExchange({ method: 'PUT', url, requestHeaders, status, responseHeaders, responseBody });
  if (problems.length > 0) throw new Error(`against openapi.yaml: ${problems.join('; ')}`);
  return answer;
}

export async function readSample(name: string): Promise<Buffer<ArrayBuffer>> {
  return readFile(new URL(`../media/${name}`, import.meta.url));
}

/** Waits until there is a value other than undefined, null or false. */
export async function until<T>(look: () => T | Promise<T>): Promise<Exclude<T, false | null | undefined>> {
  return untilThere('a value', look, { seen: () => look.toString() });
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}
