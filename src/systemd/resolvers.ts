import { BlockList, isIP } from 'node:net';

/**
 * The name servers of resolv.conf(5) that are link-local, as on Google Compute Engine (169.254.169.254) or by router
 * advertisements (fe80::…): IPAddressDeny=link-local of the unit would leave the service without names.
 *
 * @param resolvConf its text
 */
export function linkLocalResolvers(resolvConf: string): readonly string[] {
  return [...resolvConf.matchAll(/^nameserver\s+([\da-f.:]+)/gim)].flatMap(([, address = '']) =>
    isLinkLocal(address) ? [address] : [],
  );
}

const linkLocal = new BlockList();
linkLocal.addSubnet('169.254.0.0', 16, 'ipv4');
linkLocal.addSubnet('fe80::', 10, 'ipv6');

function isLinkLocal(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && linkLocal.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
