import { connectionAdvice } from '@dropcast/client';
import got from 'got';
import { RequestError, TimeoutError, type PlainResponse, type Request } from 'got';
import { failed, quoted, type Attempt, type Sent } from './sent.ts';
import type { HeartbeatTarget } from '../target.ts';

interface HttpMessage {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly json?: Readonly<Record<string, unknown>>;
  /** Values that are never displayed. */
  readonly secrets: readonly (string | null)[];
}

/** Maximum number of bytes read from an answer; the log shows its first line. */
const mostAnswerBytes = 1024;

/**
 * Statuses that a repeat would get again. 401, 403 and 404 are not among them: they concern the address or token, which
 * a person can fix.
 */
const refusals = new Set([400, 405, 406, 409, 411, 413, 414, 415, 422]);

/**
 * Sends one request. Redirects are not followed, because they would pass on the secrets. The result never contains the
 * address, which may be secret.
 */
export async function sendHttp({ url, method, headers, json, secrets }: HttpMessage, attempt: Attempt): Promise<Sent> {
  const request = got.stream(url, {
    method,
    headers: { 'user-agent': 'dropcast', ...headers },
    ...(json !== undefined && { json: { ...json } }),
    signal: attempt.signal,
    timeout: { lookup: 10_000, connect: 10_000, secureConnect: 10_000, request: attempt.timeoutMs },
    followRedirect: false,
    throwHttpErrors: false,
    retry: { limit: 0 },
    decompress: false,
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment has no effect.
    https: { rejectUnauthorized: true },
  });
  try {
    const head = await headOf(request);
    return answered(head, isTaken(head) ? '' : quoted(await beginOf(request), secrets));
  } catch (error) {
    return failure(error, attempt);
  } finally {
    request.on('error', () => undefined).destroy();
  }
}

/**
 * Waits for the head of the answer. The status is enough, because the body may be megabytes, never end or break off.
 */
function headOf(request: Request): Promise<PlainResponse> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve).once('error', reject).resume().pause();
  });
}

/** Reads the part of the body that is shown. */
async function beginOf(request: Request): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      if (Buffer.concat(chunks).length >= mostAnswerBytes) break;
    }
  } catch {
    // The body broke off; the part that arrived is shown.
  }
  return Buffer.concat(chunks).toString();
}

function isTaken({ statusCode: status }: PlainResponse): boolean {
  return status >= 200 && status < 300;
}

function answered(head: PlainResponse, said: string): Sent {
  const { statusCode: status, headers } = head;
  if (isTaken(head)) return { ok: true, answer: `answered ${status}` };
  if (status >= 300 && status < 400)
    return failed(`answered ${status}, a redirect, which is not followed: write the address that it leads to`);
  return failed(`answered ${status}${said === '' ? '' : `: ${said}`}`, {
    isRefusal: refusals.has(status),
    ...waitOf(headers['retry-after']),
  });
}

function failure(error: unknown, { signal, timeoutMs }: Attempt): Sent {
  if (signal.aborted) return failed('dropcast was stopped', { mayHaveArrived: true });
  if (error instanceof TimeoutError) {
    const isConnected = error.event === 'request' || error.event === 'response';
    return failed(`no answer within ${Math.round(timeoutMs / 1000)} s`, { mayHaveArrived: isConnected });
  }
  const code = error instanceof RequestError ? error.code : '';
  // A connection may be reset after the message has arrived.
  return failed(connectionAdvice(code || 'unknown error'), {
    mayHaveArrived: code === 'ECONNRESET' || code === 'EPIPE',
  });
}

const mostWaitMs = 3_600_000;

function waitOf(header: string | undefined): { readonly retryAfterMs?: number } {
  const seconds = Number(header);
  return header === undefined || !(seconds > 0) ? {} : { retryAfterMs: Math.min(seconds * 1000, mostWaitMs) };
}

/** Requests the health or the failure address. @returns null if there is no failure address */
export async function beat({ url, fail }: HeartbeatTarget, isWell: boolean, attempt: Attempt): Promise<Sent | null> {
  if (!isWell && fail === null) return null;
  const address = isWell ? url.reveal() : failAddress(url.reveal(), fail ?? '');
  return sendHttp({ url: address, method: 'GET', headers: {}, secrets: [url.reveal()] }, attempt);
}

/** Returns the failure address: a path is appended to the address's own path, a query replaces its query. Pure. */
export function failAddress(address: string, fail: string): string {
  const url = new URL(address);
  if (fail.startsWith('?')) url.search = fail;
  else url.pathname = `${url.pathname.replace(/\/+$/, '')}${fail}`;
  return url.href;
}
