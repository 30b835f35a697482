import { BlockList, isIPv4, isIPv6 } from 'node:net';

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
