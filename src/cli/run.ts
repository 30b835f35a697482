import { ControlSocketError, serveControl } from '../daemon/control-server.ts';
import type { Reloaded } from '../daemon/control-server.ts';
import { statusOf } from '../daemon/view.ts';
import { serveStatusPage } from '../status/page.ts';
import type { Daemon } from '../daemon/daemon.ts';
import type { Logger } from '../log/logger.ts';
import { createLifecycleNotifier } from '../systemd/lifecycle.ts';
import type { LifecycleNotifier } from '../systemd/lifecycle.ts';
import { NotifyError, openNotifier } from '../systemd/notifier.ts';
import { requireConfig } from './read-config.ts';
import { CommandError, exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';
import { unitAllows } from './unit-allows.ts';
import { drain, openLog, startDaemonOrExplain, whenAborted } from './daemon-lifecycle.ts';
import { reloadConfig } from './reload-config.ts';

/** `dropcast run`: the daemon in the foreground. */
export async function run(shell: Shell, options: { readonly config?: string }): Promise<void> {
  shell.takeOverSignals();
  let isAskedEarly = false;
  shell.onReload(() => {
    isAskedEarly = true;
  });
  const config = await requireConfig(shell, options.config, 'may come later');
  const { logger, secrets, close } = openLog(config, shell, shell.stdout);
  await using stack = new AsyncDisposableStack();
  stack.defer(close);
  const lifecycle = stack.use(openLifecycleNotifier(shell, logger));
  const daemon = await startDaemonOrExplain(config, logger);
  stack.use(daemon);
  let last: Promise<unknown> = Promise.resolve();
  // One after the other: the last configuration is the one that stays.
  const reload = (): Promise<Reloaded> => {
    const next = last.then(() => reloadConfig(daemon, { shell, logger, secrets }));
    last = next.catch(() => undefined);
    return next;
  };
  stack.use(await serveOrExplain(daemon, config.status.socket, reload));
  await openPage(daemon, logger, stack);
  const onReload = (): void => {
    if (shell.stopping.aborted) return;
    reload().catch((error: unknown) => logger.error('The reload broke', { err: error }));
  };
  shell.onReload(onReload);
  if (isAskedEarly) onReload();
  logger.info('Ready', { config: config.file, folders: config.folders.map(({ path }) => path), pid: process.pid });
  lifecycle?.watch({
    unscanned: () => daemon.folders.unscanned(),
    brief: () => daemon.brief(),
    uploads: () => daemon.conductor.uploads().length,
    turnedAt: () => daemon.conductor.turnedAt(),
  });
  await whenAborted(shell.stopping);
  logger.info('Stopping: uploads may finish; a second signal cuts them');
  const cut = await drain(daemon, shell);
  if (cut === 0) logger.info('Stopped');
  else logger.info('Stopped: uploads were cut and go on at the next start', { uploads: cut });
}

/** Null when it was not started by a service manager that wants to be told. */
function openLifecycleNotifier(shell: Shell, logger: Logger): LifecycleNotifier | null {
  try {
    const notifier = openNotifier({ env: shell.env, pid: process.pid, logger });
    return notifier && createLifecycleNotifier(notifier, { logger, stopping: shell.stopping });
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
    throw new CommandError(`the control socket cannot be made: ${error.message}`, exitCodes.failed, { cause: error });
  }
}

/** A page that cannot be served is a pity, not a reason to leave videos lying. */
async function openPage(daemon: Daemon, logger: Logger, stack: AsyncDisposableStack): Promise<void> {
  const { listen } = daemon.config().status;
  if (listen === null) return;
  try {
    const status = () => statusOf(daemon.ledger, daemon);
    const page = stack.use(await serveStatusPage(listen, { status, receive: daemon.receive }));
    logger.info('The status page is served', { address: `http://${listen.host}:${page.port}/` });
  } catch (error) {
    const mend = unitAllows(error, daemon.config().file);
    logger.error('The status page cannot be served', { host: listen.host, port: listen.port, err: error, ...mend });
  }
}
