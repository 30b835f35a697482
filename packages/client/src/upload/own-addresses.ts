import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

/**
 * The addresses of this machine's network interfaces. The system reports them over netlink, which hardened services may
 * not use (`RestrictAddressFamilies=`: every upload then failed); Linux also writes them to files.
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

/** @param fibTrie as Linux writes it: the address, and below it what it is for */
export function ownIPv4(fibTrie: string): readonly string[] {
  return [...fibTrie.matchAll(/\|-- ([\d.]+)\n\s+\/32 host LOCAL\b/g)].flatMap(([, address]) => address ?? []);
}

/** @param ifInet6 a line for each address, which begins with its 32 hexadecimal digits */
export function ownIPv6(ifInet6: string): readonly string[] {
  return [...ifInet6.matchAll(/^[\da-f]{32}\b/gm)].map(([digits]) => digits.replaceAll(/(.{4})(?!$)/g, '$1:'));
}

/** A machine without IPv6 has no such file. */
function ifInet6(): string {
  try {
    return readFileSync('/proc/self/net/if_inet6', 'utf8');
  } catch {
    return '';
  }
}
