import { Agent } from 'node:https';
import type { AgentOptions } from 'node:https';
// Namespace import: an older Node fails to link `getCACertificates` before node-version.ts can report the version.
import * as tls from 'node:tls';

import type { Proxy } from './proxy.ts';

/**
 * Certificates (PEM) to trust in addition to Node's: for every host, or for some. The keys of the mapping are names and
 * addresses without brackets; `*.example.com` is every name below `example.com`.
 */
export type Authorities = string | Readonly<Record<string, string>>;

/** Code of the error for an unusable proxy; its message says why. */
export const unusableProxyCode = 'unusable_proxy';

/** An HTTPS agent that trusts additional authorities, each for the hosts that it is configured for. */
export class TrustingAgent extends Agent {
  readonly proxy: Proxy;
  readonly #authorities: readonly (readonly [pattern: string, pem: string])[];
  /** By PEM text: parsing Node's 150 certificates takes 15 ms (measured), too long for every connection. */
  readonly #contexts = new Map<string, tls.SecureContext>();

  /** @param proxy the one that `options.proxyEnv` names; if it is unusable, every connection fails */
  constructor(options: AgentOptions, authorities: Authorities, proxy: Proxy) {
    super(options);
    this.proxy = proxy;
    this.#authorities = Object.entries(typeof authorities === 'string' ? { '*': authorities } : authorities);
  }

  override createConnection(...[options, callback]: Parameters<Agent['createConnection']>) {
    if (this.proxy.kind === 'unusable') throw Object.assign(new Error(this.proxy.why), { code: unusableProxyCode });
    const host = options.host?.replace(/^\[|\]$/g, '').toLowerCase() ?? '';
    const pem = this.#authorities.flatMap(([pattern, text]) => (isFor(pattern, host) ? [text] : [])).join('\n');
    if (pem === '') return super.createConnection(options, callback);
    return super.createConnection(Object.assign({}, options, { secureContext: this.#contextOf(pem) }), callback);
  }

  #contextOf(pem: string): tls.SecureContext {
    const context = this.#contexts.get(pem) ?? tls.createSecureContext({ ca: [...knownCertificates(), pem] });
    this.#contexts.set(pem, context);
    return context;
  }
}

function isFor(pattern: string, host: string): boolean {
  const name = pattern.toLowerCase();
  return name === host || (name.startsWith('*') && host.endsWith(name.slice(1)));
}

/**
 * Returns the certificates that Node trusts, because those of a context replace them all. Before Node 22.15 they
 * exclude those of NODE_EXTRA_CA_CERTS.
 */
function knownCertificates(): readonly string[] {
  const { getCACertificates } = tls as { readonly getCACertificates?: typeof tls.getCACertificates };
  return getCACertificates === undefined ? tls.rootCertificates : getCACertificates('default');
}
