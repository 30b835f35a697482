import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** Whether the host name or address (IPv6 with or without brackets) can only mean this machine. Uses no DNS. */
export function isLoopbackHost(host: string): boolean {
  const name = plainHost(host);
  if (isIPv4(name)) return loopback.check(name, 'ipv4');
  if (isIPv6(name)) return loopback.check(name, 'ipv6');
  return name === 'localhost' || name.endsWith('.localhost'); // RFC 6761 section 6.3
}

/** In lower case, without brackets and without the dot at the end. */
export function plainHost(host: string): string {
  return host
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');
