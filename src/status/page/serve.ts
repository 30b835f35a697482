import { serveHttp, type HttpLimits, type HttpServer } from '../../http/serve.ts';
import type { Right } from './access.ts';
import { answerEarly } from './public.ts';
import { createSite, type PageSource } from './site.ts';

export interface StatusPage extends HttpServer {
  /** Returns an address that opens the page once, within five minutes. */
  link(right: Right): string;
}

export interface Listen {
  readonly host: string;
  readonly port: number;
}

/** Maximum number of connections. A browser uses a stream and several more connections for each open page. */
const MOST_CONNECTIONS = 300;

/**
 * Serves the page and `/status.json` to authorised readers, answers health checks for everyone (`/healthz`), and
 * accepts webhooks (`POST /webhooks`).
 *
 * @param listen port 0: any free port
 * @returns the listening port; disposal closes all streams and connections
 * @throws the error of `listen`, such as EADDRINUSE
 */
export async function serveStatusPage(
  listen: Listen,
  source: PageSource,
  limits?: Partial<HttpLimits>,
): Promise<StatusPage> {
  const closing = new AbortController();
  const site = createSite(listen.host, source, closing.signal);
  const early = answerEarly(source, () => [listen.host, ...source.daemon.config().status.hosts]);
  const server = await serveHttp(site.fetch, listen, { connections: MOST_CONNECTIONS, ...limits }, early);
  const address = pageAddress({ ...listen, port: server.port });
  return {
    port: server.port,
    link: (right) => `${address}open?code=${source.access.makeCode(right)}`,
    [Symbol.asyncDispose]: () => {
      closing.abort();
      return server[Symbol.asyncDispose]();
    },
  };
}

/** The page's address for a browser on this machine. */
export function pageAddress({ host, port }: Listen): string {
  const own = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${own.includes(':') ? `[${own}]` : own}:${port}/`;
}
