import { existsSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { formatProblem } from '../config/load.ts';
import type { Problem } from '../config/load.ts';
import type { Reloaded } from '../daemon/control-server.ts';
import type { Daemon } from '../daemon/daemon.ts';
import type { Logger } from '../log/logger.ts';
import type { SecretValues } from '../log/redaction.ts';
import { readConfig } from './read-config.ts';
import type { Shell } from './shell.ts';

/**
 * Has the daemon read its configuration again. A bad one is refused and the old one stays; the log says which of the two.
 *
 * @throws {Error} when dropcast is stopping
 */
export async function reloadConfig(
  daemon: Daemon,
  { shell, logger, secrets }: { readonly shell: Shell; readonly logger: Logger; readonly secrets: SecretValues },
): Promise<Reloaded> {
  refuseWhileStopping(shell);
  const before = daemon.config();
  const { file } = before;
  const refuse = (problems: readonly string[]): Reloaded => {
    logger.error('The new configuration is wrong: the old one stays', { problems });
    return { ok: false, problems, config: file };
  };
  if (!existsSync(file)) return refuse([`${file} is no longer there`]);
  const { config, problems } = await readConfig(shell, file);
  refuseWhileStopping(shell);
  const lines = problems.map((problem) => formatProblem(problem, shell.cwd));
  if (config === null || problems.some((problem) => isRefusal(problem, before, config))) return refuse(lines);
  if (config.stateDir !== before.stateDir || config.status.socket !== before.status.socket) {
    logger.error('The new configuration needs a restart', { why: needsRestart });
    return { ok: false, problems: [needsRestart], config: file };
  }
  secrets.add(config.service.apiKey.reveal());
  if (config.service.webhookSecret !== null) secrets.add(config.service.webhookSecret.reveal());
  await daemon.reload(config);
  logger.info('The configuration was taken over', { config: config.file, warnings: lines });
  const later = settledAtStart.filter((key) => isOther(before, config, key));
  if (later.length === 0) return { ok: true, problems: lines, config: file };
  logger.warn('Some of it takes effect only after a restart', { keys: later });
  return { ok: true, problems: [...lines, `only after a restart takes effect: ${later.join(', ')}`], config: file };
}

function refuseWhileStopping({ stopping }: Shell): void {
  if (stopping.aborted) throw new Error('dropcast is stopping');
}

/** That a folder it watches is away at the moment keeps nothing else from changing; a new one that is not there is a mistake. */
function isRefusal({ severity, passing, key }: Problem, before: Config, after: Config): boolean {
  if (severity !== 'error' || passing !== true) return severity === 'error';
  const folder = after.folders.find((each) => key.startsWith(`${each.key}.`));
  return !before.folders.some(({ path }) => path === folder?.path);
}

/** Where the daemon keeps its ledger and where it can be asked do not change while it runs. */
export const needsRestart = 'state_dir and status.socket take effect only after a restart';

/** What a running daemon keeps: its log and its page are set up once. */
const settledAtStart = ['log', 'status'] as const;

function isOther(before: Config, after: Config, key: (typeof settledAtStart)[number]): boolean {
  return JSON.stringify(before[key]) !== JSON.stringify(after[key]);
}
