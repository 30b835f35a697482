import { errnoOf } from '../../errno.ts';
import { serviceOf } from '../../config/installed-service.ts';
import type { ControlPorts } from '../../daemon/control/routes.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import { healthOf } from '../../daemon/health.ts';
import type { Logger } from '../../log/logger.ts';
import { pageAddress, serveStatusPage } from '../../status/page/serve.ts';
import type { Listen, StatusPage } from '../../status/page/serve.ts';
import { createPageAccess } from '../../status/page/access.ts';
import { pageToken } from '../../status/tokens.ts';
import { metricsToken } from '../../status/tokens.ts';
import { createMetrics } from '../../status/metrics/metrics.ts';
import { packageVersion } from '../../package-files.ts';

export interface PageSetup extends Pick<ControlPorts, 'testNotifications'> {
  readonly logger: Logger;
  /** Closes the page. */
  readonly stack: AsyncDisposableStack;
}

/**
 * Opens the status page. Without it, the daemon still uploads.
 *
 * @returns null if the page cannot be opened
 */
export async function openStatusPage(
  daemon: Daemon,
  listen: Listen,
  { logger, stack, testNotifications }: PageSetup,
): Promise<StatusPage | null> {
  const { stateDir, file } = daemon.config();
  try {
    const page = await serveStatusPage(listen, {
      daemon,
      health: () => healthOf(daemon.waits()),
      receive: (webhook) => daemon.receive(webhook),
      broke: (err) => logger.error('The status page failed', { err }),
      access: createPageAccess(await pageToken(stateDir)),
      testNotifications,
      metrics: {
        ...createMetrics(daemon, { version: await packageVersion(), node: process.versions.node }),
        token: await metricsToken(stateDir),
      },
    });
    logger.info('Status page ready', { address: pageAddress({ ...listen, port: page.port }) });
    return stack.use(page);
  } catch (error) {
    logger.error('No status page', { ...listen, err: error, ...listenAdvice(error, file) });
    return null;
  }
}

/**
 * Explains, as log fields, why an installed service could not listen and how to fix that. Only the unit's
 * SocketBindDeny=any causes EPERM (systemd.resource-control(5)).
 *
 * @returns no field for other errors, or for a daemon that is not an installed service
 */
export function listenAdvice(error: unknown, configFile: string): { readonly why?: string } {
  const service = serviceOf(configFile);
  if (service === null || errnoOf(error) !== 'EPERM') return {};
  return { why: `the unit allows only its own port; run: ${service.setupCommand}` };
}
