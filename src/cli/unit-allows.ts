import { errnoOf } from '../config/errno.ts';
import { serviceOf } from '../config/installed-service.ts';

/**
 * Why a service could not listen, and what mends it, as fields of the log: SocketBindDeny=any of the unit is EPERM, which a port
 * has of nothing else (systemd.resource-control(5)).
 *
 * @returns nothing for other errors, and for a daemon that is no installed service
 */
export function unitAllows(error: unknown, configFile: string): { readonly why?: string } {
  const service = serviceOf(configFile);
  if (service === null || errnoOf(error) !== 'EPERM') return {};
  const commands = [service.dropInCommand, 'sudo systemctl daemon-reload', `sudo systemctl restart ${service.name}`];
  return { why: `the unit allows no port but its own; run: ${commands.join(' && ')}` };
}
