import { systemClock } from '../../daemon/daemon.ts';
import { ControlSocketError, serveControl } from '../../daemon/control/server.ts';
import type { Logger } from '../../log/logger.ts';
import { startNotifications } from '../../status/notifications/notifications.ts';
import { LifecycleNotifier } from '../../systemd/lifecycle.ts';
import { NotifyError, openNotifier } from '../../systemd/notifier.ts';
import { testNotifications } from '../act/notify-test.ts';
import { packageVersion } from '../../package-files.ts';
import { traceFiles } from '../../status/traces/trace-files.ts';
import { requireConfig } from '../read-config.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import type { Right } from '../../status/page/access.ts';
import type { StatusPage } from '../../status/page/serve.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import { uploadsHere } from '../../pipeline/steps/uploads.ts';
import { drain, openLog, startDaemonOrExplain } from './daemon-lifecycle.ts';
import type { PageSetup } from './open-status-page.ts';
import { aborted } from '../../pipeline/wake-up.ts';
import { createReload } from '../configure/reload-config.ts';

/** `dropcast run`: runs the daemon in the foreground. */
export async function run(shell: Shell, options: { readonly config?: string }): Promise<void> {
  shell.takeOverSignals();
  let isReloadDue = false;
  shell.onReload(() => {
    isReloadDue = true;
  });
  const config = await requireConfig(shell, options.config, 'may come later');
  const { logger, secrets, close } = openLog(config, shell, shell.stdout);
  await using stack = new AsyncDisposableStack();
  stack.defer(close);
  const lifecycle = stack.use(openLifecycleNotifier(shell, logger));
  const daemon = await startDaemonOrExplain(config, { shell, logger }, async (daemon) => {
    if (await traceFiles(daemon, await packageVersion())) logger.info('OpenTelemetry traces each file');
    const reload = createReload(daemon, { shell, logger, secrets });
    const tests = { testNotifications: testNotifications(() => daemon.config(), shell.env) };
    const page = await openPage(daemon, { logger, stack, ...tests });
    const ports = { reload, pageLink: (right: Right) => page?.link(right) ?? null, ...tests };
    stack.use(await serveOrExplain(daemon, config.status.socket, ports));
    const onReload = (): void => {
      if (shell.stopping.aborted) return;
      reload({ isPlanned: false }).catch((error: unknown) => logger.error('Reload failed', { err: error }));
    };
    shell.onReload(onReload);
    if (isReloadDue) onReload();
  });
  stack.use(daemon);
  await using notifications = startNotifications({ daemon, logger, now: systemClock.now, env: shell.env });
  logger.info('Ready', { config: config.file, folders: config.folders.map(({ path }) => path), pid: process.pid });
  lifecycle?.watch({
    unscanned: () => daemon.folders.unscanned(),
    picture: () => daemon.picture(),
    uploads: () => uploadsHere(daemon).length,
    progressedAt: () => daemon.conductor.progressedAt(),
  });
  await aborted(shell.stopping);
  logger.info('Stopping: waiting for uploads; a second signal aborts them');
  // Later news is sent after the next start, so that no target delays the shutdown.
  await notifications[Symbol.asyncDispose]();
  const uploads = await drain(daemon, shell);
  if (uploads === 0) logger.info('Stopped');
  else logger.info('Stopped: aborted uploads continue at the next start', { uploads });
}

/** Opens the status page. Its code is loaded only if the configuration enables it. */
async function openPage(daemon: Daemon, setup: PageSetup): Promise<Pick<StatusPage, 'link'> | null> {
  const { listen } = daemon.config().status;
  if (listen === null) return null;
  const { openStatusPage } = await import('./open-status-page.ts');
  return openStatusPage(daemon, listen, setup);
}

/** Returns null if no service manager is waiting for notifications. */
function openLifecycleNotifier(shell: Shell, logger: Logger): LifecycleNotifier | null {
  try {
    const notifier = openNotifier({ env: shell.env, pid: process.pid, logger });
    return notifier && new LifecycleNotifier(notifier, { logger, stopping: shell.stopping });
  } catch (error) {
    if (!(error instanceof NotifyError)) throw error;
    throw new CommandError(error.message, exitCodes.failed, { cause: error });
  }
}

async function serveOrExplain(...control: Parameters<typeof serveControl>): Promise<AsyncDisposable> {
  try {
    return await serveControl(...control);
  } catch (error) {
    if (!(error instanceof ControlSocketError)) throw error;
    throw new CommandError(`cannot create the control socket: ${error.message}`, exitCodes.failed, { cause: error });
  }
}
