import { isIPv4 } from 'node:net';

import { knowsProxies } from '../node-version.ts';

/** Environment variables such as `HTTPS_PROXY` and `NO_PROXY`. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/** The proxy for https: its address, none, or why the configured one is not usable. */
export type Proxy =
  | { readonly kind: 'proxy'; readonly url: URL }
  | { readonly kind: 'none' }
  | { readonly kind: 'unusable'; readonly why: string };

/**
 * Reads the proxy for https from the environment. As in Node, the lower-case name takes precedence. As in curl, an
 * address without a scheme means http; Node would ignore it and connect directly. A password with a `/` is refused
 * here, because Node throws an error that shows the password.
 */
export function proxyIn(proxyEnv: ProxyEnvironment): Proxy {
  const name = (proxyEnv['https_proxy'] ?? '') === '' ? 'HTTPS_PROXY' : 'https_proxy';
  const value = (proxyEnv[name] ?? '').trim();
  if (!knowsProxies || value === '') return { kind: 'none' };
  const url = URL.parse(value.includes('://') ? value : `http://${value}`);
  if (url !== null && !/^https?:$/.test(url.protocol))
    return {
      kind: 'unusable',
      why: `${name} names a proxy that speaks ${url.protocol.slice(0, -1)}; only http and https proxies work`,
    };
  if (url !== null && isDecodable(url.username) && isDecodable(url.password)) return { kind: 'proxy', url };
  const codes = '% as %25, / as %2F, # as %23, ? as %3F and @ as %40';
  const why = `${name} is not an address such as http://proxy.example.com:3128; in NAME:PASSWORD@ before the host, write ${codes}`;
  return { kind: 'unusable', why };
}

/** Returns the environment as Node's agents understand it. */
export function proxyEnvOf(proxyEnv: ProxyEnvironment, proxy: Proxy): ProxyEnvironment {
  const direct = (proxyEnv['no_proxy'] ?? '') === '' ? proxyEnv['NO_PROXY'] : proxyEnv['no_proxy'];
  const entries = (direct ?? '').split(',').map((entry) => rangeOf(entry.trim()));
  return {
    ...proxyEnv,
    HTTPS_PROXY: '',
    https_proxy: proxy.kind === 'proxy' ? proxy.url.href : '',
    no_proxy: entries.join(','),
  };
}

/** Node knows ranges of IPv4 addresses, but not their common notation, such as `10.0.0.0/8` (RFC 4632 section 3.1). */
function rangeOf(entry: string): string {
  const [, address = '', length = ''] = /^([\d.]+)\/(\d{1,2})$/.exec(entry) ?? [];
  if (!isIPv4(address) || Number(length) > 32) return entry;
  const size = 2 ** (32 - Number(length));
  const value = address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
  const first = value - (value % size);
  return `${dotted(first)}-${dotted(first + size - 1)}`;
}

function dotted(value: number): string {
  return [24, 16, 8, 0].map((bits) => Math.floor(value / 2 ** bits) % 256).join('.');
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
