import { once } from 'node:events';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { isKeyId, type KeyView } from './keys.ts';

interface AdminAddress {
  /** `http://127.0.0.1:PORT/_sandbox` */
  readonly adminUrl: string;
  readonly token: string;
  /** The CA certificate to trust, as PEM. Default: Node's own. */
  readonly ca?: string | undefined;
}

/** Thrown when no sandbox could be reached, or when it refused the request. The message distinguishes the two. */
export class AdminError extends Error {
  override readonly name = 'AdminError';
  /**
   * Error code from the sandbox; 'unreachable' if there was no response, 'not a sandbox' if something else answered.
   */
  readonly code: string;

  /** @param code the sandbox's error code, `unreachable` or `not a sandbox` @param message for the user */
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Manages the keys of a running sandbox from another process. Every method @throws AdminError */
export class RemoteKeys {
  readonly #address: AdminAddress;

  /** @param address of the running sandbox; connects only when a method is called */
  constructor(address: AdminAddress) {
    this.#address = address;
  }

  async list(): Promise<KeyView[]> {
    return this.#ask(z.array(keyForm), { method: 'GET', path: '/keys' });
  }

  async create(name: string, isReadOnly: boolean): Promise<KeyView & { readonly key: string }> {
    const body = { name, read_only: isReadOnly };
    return this.#ask(keyForm.extend({ key: z.string() }), { method: 'POST', path: '/keys', body });
  }

  async revoke(id: string): Promise<KeyView | undefined> {
    if (!isKeyId(id)) return undefined; // `..` would lead to another path
    try {
      return await this.#ask(keyForm, { method: 'DELETE', path: `/keys/${encodeURIComponent(id)}` });
    } catch (error) {
      if (error instanceof AdminError && error.code === 'not_found') return undefined;
      throw error;
    }
  }

  async #ask<T>(form: z.ZodType<T>, question: Question): Promise<T> {
    const { status, content } = await exchange(this.#address, question);
    const answer = parsed(content);
    const refused = errorForm.safeParse(answer).data;
    if (refused)
      throw new AdminError(refused.error.code, `the sandbox refused the request (${status}): ${refused.error.message}`);
    const taken = z.object({ data: form }).safeParse(answer).data;
    if (taken) return taken.data;
    const { adminUrl } = this.#address;
    throw new AdminError('not a sandbox', `${adminUrl} is not the admin side of a sandbox`);
  }
}

const keyForm = z.object({
  id: z.string(),
  name: z.string(),
  hint: z.string(),
  read_only: z.boolean(),
  created_at: z.string(),
  revoked_at: z.string().nullable(),
  use_count: z.number(),
  last_used_at: z.string().nullable(),
  last_used_from: z.string().nullable(),
});

const errorForm = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

interface Question {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

/** Uses node:http because `fetch` has no CA option. */
async function exchange({ adminUrl, token, ca }: AdminAddress, { method, path, body }: Question) {
  const url = `${adminUrl.replace(/\/+$/, '')}${path}`;
  const content = body === undefined ? '' : JSON.stringify(body);
  const headers = {
    Authorization: `Bearer ${token}`,
    ...(body && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(content) }),
  };
  const options = { method, headers, agent: false, timeout: TIMEOUT_MS };
  try {
    const asked = url.startsWith('https:') ? requestHttps(url, { ...options, ca }) : requestHttp(url, options);
    asked.on('timeout', () => asked.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
    asked.end(content);
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    return { status: response.statusCode, content: await text(response) };
  } catch (error) {
    const why = error instanceof Error ? error.message || error.name : String(error);
    throw new AdminError('unreachable', `cannot reach a sandbox at ${adminUrl}: ${why}`, { cause: error });
  }
}

const TIMEOUT_MS = 10_000;

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}
