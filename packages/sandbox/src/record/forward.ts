import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { getCACertificates } from 'node:tls';

/** Sends requests on to a service as they came. */
export interface Forwarder extends Disposable {
  /** Opens the request; the caller sends the body, and listens to the rest. */
  open(request: IncomingMessage, url: URL): ClientRequest;
}

/** @param ca a certificate (PEM) to trust in addition to those that Node trusts */
export function createForwarder(ca: string | undefined): Forwarder {
  const trust = ca === undefined ? {} : { ca: [...getCACertificates('default'), ca] };
  // A connection of its own for each request: one that the service closes meanwhile would break a request that is not to blame.
  const agents = {
    http: new HttpAgent({ keepAlive: false }),
    https: new HttpsAgent({ keepAlive: false, rejectUnauthorized: true, proxyEnv: process.env, ...trust }),
  };
  return {
    open: (request, url) => {
      const options = { method: request.method ?? 'GET', headers: headersFor(request, url) };
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

/** The headers of an answer for the program, without those of the connection to the service. */
export function answerHeaders(answer: IncomingMessage): string[] {
  return endToEnd(answer.rawHeaders, connectionHeaders);
}

/** RFC 9110 section 7.6.1. */
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

/** Without `Accept-Encoding`: a recording is to be read. */
const notForwarded: ReadonlySet<string> = new Set([...connectionHeaders, 'host', 'accept-encoding']);

function headersFor(request: IncomingMessage, url: URL): string[] {
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  return [
    'Host',
    url.host,
    ...endToEnd(request.rawHeaders, notForwarded),
    'Connection',
    'close',
    ...(isChunked ? ['Transfer-Encoding', 'chunked'] : []),
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
