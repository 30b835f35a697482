import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * The network distance of an address: everyone can reach it (`public`), machines of this site (`private`), or this
 * machine alone (`loopback`). `forbidden` never accepts uploads: link-local and other addresses where a cloud answers a
 * machine about itself (its role's keys included), multicast, and `0.0.0.0`, which Linux treats as this machine.
 */
export type Reach = 'public' | 'private' | 'loopback' | 'forbidden';

/**
 * @param address IPv4 in four decimal parts or IPv6, also with a zone or in brackets. IPv4 inside of IPv6 (mapped RFC
 *   4291, NAT64 RFC 6052, 6to4 RFC 3056) counts as the IPv4 address that it leads to.
 * @returns `forbidden` for anything else
 */
export function reachOf(address: string): Reach {
  const ip = ipOf(address);
  if (ip === null) return 'forbidden';
  const family = isIPv4(ip) ? 'ipv4' : 'ipv6';
  return nearest.find((reach) => lists[reach].check(ip, family)) ?? 'public';
}

/**
 * The reach of an address, where those of this machine's own network interfaces count as `loopback`, whatever their
 * block: otherwise a service on the internet could make this machine send a file to itself.
 *
 * @param own addresses of this machine; called only when they matter
 */
export function reachHere(address: string, own: () => readonly string[]): Reach {
  const reach = reachOf(address);
  if (reach === 'forbidden' || reach === 'loopback') return reach;
  const ip = ipOf(address);
  return own().some((one) => ipOf(one) === ip) ? 'loopback' : reach;
}

/** Whether a host, as `URL.hostname` gives it, is this machine: the only one that may be reached without TLS. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Whether `text` is an IP address, not a name. */
export function isAddress(text: string): boolean {
  return isIPv4(text) || isIPv6(text.replace(/^\[|\]$/g, ''));
}

/** Whether `one` is nearer to this machine than `other`. `forbidden` is nearer than everything. */
export function isNearer(one: Reach, other: Reach): boolean {
  return order.indexOf(one) > order.indexOf(other);
}

const order: readonly Reach[] = ['public', 'private', 'loopback', 'forbidden'];
const nearest = ['forbidden', 'loopback', 'private'] as const;

// The special-purpose registries (RFC 6890: IANA ipv4- and ipv6-special-registry), and the documentation of the clouds.
const lists: Readonly<Record<(typeof nearest)[number], BlockList>> = {
  forbidden: listOf([
    ['0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4', '::/128', 'fe80::/10', 'ff00::/8'],
    // Metadata: Alibaba, Azure's wire server, Oracle, AWS and Google over IPv6. All others are at 169.254.169.254.
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

/** One spelling for each address; null for anything else. */
function ipOf(address: string): string | null {
  const plain = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (isIPv4(plain)) return plain;
  if (!isIPv6(plain)) return null;
  return carriedIPv4(plain) ?? new URL(`http://[${plain}]`).hostname.slice(1, -1);
}

/** The IPv4 address inside an IPv6 address, if it only wraps one. `::` and `::1` do not. */
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

/** The eight groups of an IPv6 address. The URL parser writes each address in exactly one way. */
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
