import { BlockList, isIPv4, isIPv6, isIP } from 'node:net';

/** Whether the host name or address (IPv6 with or without brackets) always refers to this machine. Uses no DNS. */
export function isLoopbackHost(host: string): boolean {
  const name = plainHost(host);
  if (isIPv4(name)) return loopback.check(name, 'ipv4');
  if (isIPv6(name)) return loopback.check(name, 'ipv6');
  return name === 'localhost' || name.endsWith('.localhost'); // RFC 6761 section 6.3
}

/** Normalises a host to lower case, without brackets or a trailing dot. */
export function plainHost(host: string): string {
  return host
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * Decides which host names and addresses a request may be addressed to. Other names are refused: a web page whose name
 * resolves to this machine (DNS rebinding) still sends that name. Addresses cannot be rebound, so an exposed sandbox
 * answers to all of them.
 *
 * @param exposed undefined unless other machines may use the sandbox; `names` are then its own names, besides those of
 *   this machine
 * @returns a function that takes a host name or address without a port, IPv6 with or without brackets
 */
export function ownHosts(exposed: { readonly names: readonly string[] } | undefined): (host: string) => boolean {
  if (!exposed) return isLoopbackHost;
  const names = new Set(exposed.names.map(plainHost));
  return (host) => isLoopbackHost(host) || isIP(plainHost(host)) !== 0 || names.has(plainHost(host));
}
