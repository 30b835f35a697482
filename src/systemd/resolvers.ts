import { BlockList, isIP } from 'node:net';

/**
 * Link-local name servers, as on Google Compute Engine (169.254.169.254) or from router advertisements (fe80::…). Without an exception,
 * IPAddressDeny=link-local of the unit blocks them.
 *
 * @param resolvConf text of resolv.conf(5)
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
