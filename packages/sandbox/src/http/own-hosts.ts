import { isIP } from 'node:net';
import { isLoopbackHost, plainHost } from '../loopback.ts';

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
