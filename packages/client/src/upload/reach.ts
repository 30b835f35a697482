import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * Who can reach an address: everyone (`public`), machines on this site (`private`), or only this machine (`loopback`).
 * `forbidden` never accepts uploads: link-local and other addresses where clouds serve instance metadata (including
 * role keys), multicast, and `0.0.0.0`, which Linux treats as this machine.
 */
export type Reach = 'public' | 'private' | 'loopback' | 'forbidden';

/**
 * @param address dotted IPv4, or IPv6, optionally with a zone or in brackets. IPv4 embedded in IPv6 (mapped RFC 4291,
 *   NAT64 RFC 6052, 6to4 RFC 3056) counts as that IPv4 address.
 * @returns `forbidden` for anything else
 */
export function reachOf(address: string): Reach {
  const ip = ipOf(address);
  if (ip === null) return 'forbidden';
  const family = isIPv4(ip) ? 'ipv4' : 'ipv6';
  return nearest.find((reach) => lists[reach].check(ip, family)) ?? 'public';
}

/**
 * Returns the reach of an address, counting all addresses of this machine's network interfaces as `loopback`. Otherwise
 * a service on the internet could make this machine send a file to itself.
 *
 * @param own returns this machine's addresses; called only when needed
 */
export function reachHere(address: string, own: () => readonly string[]): Reach {
  const reach = reachOf(address);
  if (reach === 'forbidden' || reach === 'loopback') return reach;
  const ip = ipOf(address);
  return own().some((one) => ipOf(one) === ip) ? 'loopback' : reach;
}

/** Whether a host (as in `URL.hostname`) is this machine, the only one that may be reached without TLS. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Whether `text` is an IP address rather than a name. */
export function isAddress(text: string): boolean {
  return isIPv4(text) || isIPv6(text.replace(/^\[|\]$/g, ''));
}

/** Whether `one` is nearer to this machine than `other`. `forbidden` counts as nearest. */
export function isNearer(one: Reach, other: Reach): boolean {
  return order.indexOf(one) > order.indexOf(other);
}

const order: readonly Reach[] = ['public', 'private', 'loopback', 'forbidden'];
const nearest = ['forbidden', 'loopback', 'private'] as const;

// Sources: the special-purpose registries (RFC 6890: IANA ipv4- and ipv6-special-registry) and cloud documentation.
const lists: Readonly<Record<(typeof nearest)[number], BlockList>> = {
  forbidden: listOf([
    ['0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4', '::/128', 'fe80::/10', 'ff00::/8'],
    // Metadata services: Alibaba, Azure's wire server, Oracle, and AWS and Google over IPv6. All others use
    // 169.254.169.254.
    ['100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32', 'fd00:ec2::/32', 'fd20:ce::254/128'],
  ]),
  loopback: listOf([['127.0.0.0/8', '::1/128']]),
  private: listOf([
    ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '192.0.0.0/24', '198.18.0.0/15'],
    ['fc00::/7', 'fec0::/10', '64:ff9b:1::/48'],
  ]),
};

function listOf(subnets: readonly (readonly string[])[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets.flat()) {
    const [network = '', bits = ''] = subnet.split('/');
    list.addSubnet(network, Number(bits), isIPv4(network) ? 'ipv4' : 'ipv6');
  }
  return list;
}

/** Normalises an address to one spelling; null if it is not an IP address. */
function ipOf(address: string): string | null {
  const plain = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (isIPv4(plain)) return plain;
  if (!isIPv6(plain)) return null;
  return carriedIPv4(plain) ?? new URL(`http://[${plain}]`).hostname.slice(1, -1);
}

/** Returns the IPv4 address embedded in an IPv6 address, if any. `::` and `::1` embed none. */
function carriedIPv4(address: string): string | null {
  const groups = groupsOf(address);
  const [first = 0, second = 0, third = 0] = groups;
  if (first === 0x2002) return dotted([second, third]);
  const head = groups.slice(0, 6);
  const isNat64 = first === 0x64 && second === 0xff9b && head.slice(2).every((group) => group === 0);
  const isMapped = head.slice(0, 5).every((group) => group === 0) && head[5] === 0xffff;
  const isCompatible = head.every((group) => group === 0) && (groups[6] !== 0 || (groups[7] ?? 0) > 1);
  return isNat64 || isMapped || isCompatible ? dotted(groups.slice(6)) : null;
}

/** Returns the eight groups of an IPv6 address. The URL parser normalises the address first. */
function groupsOf(address: string): readonly number[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const numbers = (text: string): number[] =>
    text
      .split(':')
      .filter(Boolean)
      .map((group) => Number.parseInt(group, 16));
  if (tail === undefined) return numbers(head);
  const [before, after] = [numbers(head), numbers(tail)];
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
}

function dotted(groups: readonly number[]): string {
  return groups.flatMap((group) => [group >> 8, group & 0xff]).join('.');
}
