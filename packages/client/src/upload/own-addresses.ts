import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

/**
 * Returns the addresses of this machine's network interfaces. Node gets them over netlink, which hardened services may
 * not use (`RestrictAddressFamilies=` made every upload fail), so Linux's own files are the fallback.
 *
 * @throws {Error} both sources fail
 */
export function ownAddresses(): readonly string[] {
  try {
    return Object.values(networkInterfaces()).flatMap((found) => found?.map(({ address }) => address) ?? []);
  } catch {
    return [...ownIPv4(readFileSync('/proc/self/net/fib_trie', 'utf8')), ...ownIPv6(ifInet6())];
  }
}

/** @param fibTrie content of Linux's fib_trie: each address is followed by a line stating its type */
export function ownIPv4(fibTrie: string): readonly string[] {
  return [...fibTrie.matchAll(/\|-- ([\d.]+)\n\s+\/32 host LOCAL\b/g)].flatMap(([, address]) => address ?? []);
}

/** @param ifInet6 content of Linux's if_inet6: one line per address, starting with its 32 hexadecimal digits */
export function ownIPv6(ifInet6: string): readonly string[] {
  return [...ifInet6.matchAll(/^[\da-f]{32}\b/gm)].map(([digits]) => digits.replaceAll(/(.{4})(?!$)/g, '$1:'));
}

/** Reads Linux's list of IPv6 addresses. Without IPv6 there is no such file. */
function ifInet6(): string {
  try {
    return readFileSync('/proc/self/net/if_inet6', 'utf8');
  } catch {
    return '';
  }
}
