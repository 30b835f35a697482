import { existsSync } from 'node:fs';
import { ControlSocketError, serveControl } from '../daemon/control-server.ts';
import { statusOf } from '../daemon/view.ts';
import { serveStatusPage } from '../status/page.ts';
import type { Daemon } from '../daemon/daemon.ts';
import type { Config } from '../config/config.ts';
import { formatProblem } from '../config/load.ts';
import type { Logger } from '../log/logger.ts';
import type { SecretValues } from '../log/redaction.ts';
import { readConfig, requireConfig } from './settings.ts';
import { CommandError, exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';
import { drain, openLog, startOrExplain, whenAborted } from './start.ts';

/** `dropcast run`: the daemon in the foreground. */
export async function run(shell: Shell, options: { readonly config?: string }): Promise<void> {
  shell.takeOverSignals();
  let isAskedEarly = false;
  shell.onReload(() => {
    isAskedEarly = true;
  });
  const config = await requireConfig(shell, options.config);
  const { logger, secrets, close } = openLog(config, shell, shell.stdout);
  await using stack = new AsyncDisposableStack();
  stack.defer(close);
  const daemon = await startOrExplain(config, logger);
  stack.use(daemon);
  let last: Promise<unknown> = Promise.resolve();
  // One after the other: the last configuration is the one that stays.
  const reload = (): ReturnType<typeof reloadConfig> => {
    const next = last.then(() => reloadConfig(daemon, { shell, logger, secrets }));
    last = next.catch(() => undefined);
    return next;
  };
  stack.use(await serveOrExplain(daemon, config.status.socket, reload));
  await openPage(daemon, logger, stack);
  const onReload = (): void =>
    void reload().catch((error: unknown) => logger.error('The reload broke', { err: error }));
  shell.onReload(onReload);
  if (isAskedEarly) onReload();
  logger.info('Ready', { config: config.file, folders: config.folders.map(({ path }) => path), pid: process.pid });
  await whenAborted(shell.stopping);
  logger.info('Stopping: uploads may finish; a second signal cuts them');
  await drain(daemon, shell);
  logger.info('Stopped');
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
    logger.error('The status page cannot be served', { host: listen.host, port: listen.port, err: error });
  }
}

/** Checks the new configuration first; a bad one is refused and the old one stays. */
async function reloadConfig(
  daemon: Daemon,
  { shell, logger, secrets }: { shell: Shell; logger: Logger; secrets: SecretValues },
): Promise<{ ok: boolean; problems: readonly string[] }> {
  if (shell.stopping.aborted) return { ok: false, problems: ['dropcast is stopping'] };
  const refuse = (lines: readonly string[]): { ok: false; problems: readonly string[] } => {
    logger.error('The new configuration is wrong: the old one stays', { problems: lines });
    return { ok: false, problems: lines };
  };
  const { file } = daemon.config();
  if (!existsSync(file)) return refuse([`${file} is no longer there`]);
  const { config, problems } = await readConfig(shell, file);
  const lines = problems.map((problem) => formatProblem(problem, shell.cwd));
  if (config === null || problems.some(({ severity }) => severity === 'error')) return refuse(lines);
  if (config.stateDir !== daemon.config().stateDir || config.status.socket !== daemon.config().status.socket) {
    const line = 'state_dir and status.socket take effect only after a restart: the old configuration stays';
    logger.error('The new configuration needs a restart', { why: line });
    return { ok: false, problems: [line] };
  }
  const later = settledAtStart.filter((key) => isOther(daemon.config(), config, key));
  secrets.add(config.service.apiKey.reveal());
  if (config.service.webhookSecret !== null) secrets.add(config.service.webhookSecret.reveal());
  await daemon.reload(config);
  logger.info('The configuration was taken over', { config: config.file, warnings: lines });
  if (later.length > 0) logger.warn('Some of it takes effect only after a restart', { keys: later });
  return { ok: true, problems: lines };
}

/** What a running daemon keeps: its log and its page are set up once. */
const settledAtStart = ['log', 'status'] as const;

function isOther(before: Config, after: Config, key: (typeof settledAtStart)[number]): boolean {
  return JSON.stringify(before[key]) !== JSON.stringify(after[key]);
}
