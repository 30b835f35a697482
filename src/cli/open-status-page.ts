import { errnoOf } from '../config/errno.ts';
import { serviceOf } from '../config/installed-service.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { statusOf } from '../daemon/view.ts';
import type { Logger } from '../log/logger.ts';
import { serveStatusPage } from '../status/page.ts';

/** Without its status page the daemon still uploads. */
export async function openStatusPage(daemon: Daemon, logger: Logger, stack: AsyncDisposableStack): Promise<void> {
  const { listen } = daemon.config().status;
  if (listen === null) return;
  try {
    const status = () => statusOf(daemon.ledger, daemon);
    const page = stack.use(await serveStatusPage(listen, { status, receive: (webhook) => daemon.receive(webhook) }));
    logger.info('Status page ready', { address: `http://${listen.host}:${page.port}/` });
  } catch (error) {
    const fix = listenAdvice(error, daemon.config().file);
    logger.error('No status page', { host: listen.host, port: listen.port, err: error, ...fix });
  }
}

/**
 * Why an installed service could not listen, and the fix, as log fields: the unit's SocketBindDeny=any causes EPERM, which nothing else
 * does (systemd.resource-control(5)).
 *
 * @returns no field for other errors, and for a daemon that is not an installed service
 */
export function listenAdvice(error: unknown, configFile: string): { readonly why?: string } {
  const service = serviceOf(configFile);
  if (service === null || errnoOf(error) !== 'EPERM') return {};
  const commands = [service.dropInCommand, 'sudo systemctl daemon-reload', `sudo systemctl restart ${service.name}`];
  return { why: `the unit allows only its own port; run: ${commands.join(' && ')}` };
}
