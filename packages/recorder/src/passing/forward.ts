import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { getCACertificates } from 'node:tls';

/** Forwards requests to a service unchanged. */
export interface Forwarder extends Disposable {
  /**
   * Opens a request; the caller sends the body and listens for the answer. @param mayHaveKey whether the request may
   * carry credentials
   */
  open(request: IncomingMessage, url: URL, mayHaveKey: boolean): ClientRequest;
}

/** @param ca a certificate (PEM) to trust in addition to those that Node trusts */
export function createForwarder(ca: string | undefined): Forwarder {
  const trust = ca === undefined ? {} : { ca: [...getCACertificates('default'), ca] };
  const agents = {
    http: new HttpAgent({ keepAlive: true }),
    https: new HttpsAgent({ keepAlive: true, rejectUnauthorized: true, proxyEnv: process.env, ...trust }),
  };
  // Each request has its own connection, because a reused one that the service closes would break an unrelated request.
  // Without `keepAlive`, Node stops sending a body if the answer arrives before the body's end.
  for (const agent of Object.values(agents)) agent.keepSocketAlive = () => false;
  return {
    open: (request, url, mayHaveKey) => {
      const options = { method: request.method ?? 'GET', headers: headersFor(request, url, mayHaveKey) };
      return url.protocol === 'https:'
        ? httpsRequest(url, { ...options, agent: agents.https })
        : httpRequest(url, { ...options, agent: agents.http });
    },
    [Symbol.dispose]: () => {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

/**
 * Returns the headers of an answer without those of the connection to the service. @param length length of a changed
 * body
 */
export function answerHeaders(answer: IncomingMessage, length: number | undefined): string[] {
  if (length === undefined) return endToEnd(answer.rawHeaders, connectionHeaders);
  const others = new Set([...connectionHeaders, 'content-length', 'content-md5', 'digest', 'content-digest']);
  return [...endToEnd(answer.rawHeaders, others), 'Content-Length', String(length)];
}

/** Headers that apply to a single connection, RFC 9110 section 7.6.1. */
const connectionHeaders: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Request headers that are replaced. `Accept-Encoding` is among them because recordings must be readable. */
const notForwarded: ReadonlySet<string> = new Set([...connectionHeaders, 'host', 'accept-encoding']);

/**
 * Headers that may carry credentials. Other headers could carry keys too, but no client sends those to an upload
 * address automatically.
 */
const authorising: ReadonlySet<string> = new Set(['authorization', 'cookie']);

function headersFor(request: IncomingMessage, url: URL, mayHaveKey: boolean): string[] {
  const { headers, method = 'GET' } = request;
  const isChunked = headers['transfer-encoding'] !== undefined;
  // Without a length, Node announces a chunked body, which many services refuse.
  const isEmpty = !isChunked && headers['content-length'] === undefined && ['POST', 'PUT', 'PATCH'].includes(method);
  return [
    'Host',
    url.host,
    ...endToEnd(request.rawHeaders, mayHaveKey ? notForwarded : notForwarded.union(authorising)),
    'Accept-Encoding',
    'identity',
    'Connection',
    'keep-alive',
    ...(isChunked ? ['Transfer-Encoding', 'chunked'] : []),
    ...(isEmpty ? ['Content-Length', '0'] : []),
  ];
}

function endToEnd(raw: readonly string[], without: ReadonlySet<string>): string[] {
  const kept: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name = '', value = ''] = raw.slice(index, index + 2);
    if (!without.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
