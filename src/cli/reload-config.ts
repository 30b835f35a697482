import { existsSync } from 'node:fs';
import { allSecrets } from '../config/all-secrets.ts';
import type { Config } from '../config/config.ts';
import { formatProblem } from '../config/problem.ts';
import type { Problem } from '../config/problem.ts';
import type { Reloaded } from '../daemon/control-routes.ts';
import type { Daemon } from '../daemon/daemon.ts';
import type { Logger } from '../log/logger.ts';
import type { SecretValues } from '../log/redaction.ts';
import { readConfig } from './read-config.ts';
import type { Shell } from './shell.ts';

interface ReloadContext {
  readonly shell: Shell;
  readonly logger: Logger;
  readonly secrets: SecretValues;
}

/**
 * The reload of a running daemon: reads its configuration again and applies it. An invalid one is refused, and the old one stays active;
 * the log says which. Reloads run one at a time, so that the last configuration wins.
 *
 * @param daemon its present configuration names the file to read
 * @returns a function that resolves with whether it was applied, and the problems that a person should see; it rejects when dropcast is
 *   stopping
 */
export function createReload(daemon: Daemon, context: ReloadContext): () => Promise<Reloaded> {
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    const next = last.then(() => reloadConfig(daemon, context));
    last = next.catch(() => undefined);
    return next;
  };
}

async function reloadConfig(daemon: Daemon, { shell, logger, secrets }: ReloadContext): Promise<Reloaded> {
  refuseWhileStopping(shell);
  const before = daemon.config();
  const { file } = before;
  const refuse = (problems: readonly string[]): Reloaded => {
    logger.error('Reload refused: the new configuration is wrong, the old one stays active', { problems });
    return { ok: false, problems, config: file };
  };
  if (!existsSync(file)) return refuse([`${file} does not exist`]);
  const { config, problems } = await readConfig(shell, file);
  refuseWhileStopping(shell);
  const lines = problems.map((problem) => formatProblem(problem, shell.cwd));
  if (config === null || problems.some((problem) => isRefusal(problem, before, config))) return refuse(lines);
  if (config.stateDir !== before.stateDir || config.status.socket !== before.status.socket) {
    logger.error('Reload refused: the new configuration needs a restart', { why: needsRestart });
    return { ok: false, problems: [needsRestart], config: file };
  }
  for (const secret of allSecrets(config)) secrets.add(secret.reveal());
  await daemon.reload(config);
  logger.info('Reloaded', { config: config.file, warnings: lines });
  const later = fixedAtStart.filter((key) => isOther(before, config, key));
  if (later.length === 0) return { ok: true, problems: lines, config: file };
  logger.warn('Restart to apply some settings', { keys: later });
  return { ok: true, problems: [...lines, `Restart to apply: ${later.join(', ')}`], config: file };
}

function refuseWhileStopping({ stopping }: Shell): void {
  if (stopping.aborted) throw new Error('dropcast is stopping');
}

/** A watched folder that is missing right now does not block other changes. A new folder that is missing is a mistake. */
function isRefusal({ severity, passing, key }: Problem, before: Config, after: Config): boolean {
  if (severity !== 'error' || passing !== true) return severity === 'error';
  const folder = after.folders.find((each) => key.startsWith(`${each.key}.`));
  return !before.folders.some(({ path }) => path === folder?.path);
}

/** A running daemon cannot move its ledger or its control socket. */
export const needsRestart = 'restart to change state_dir or status.socket';

/** The log and the status page are set up once, at the start. */
const fixedAtStart = ['log', 'status'] as const;

function isOther(before: Config, after: Config, key: (typeof fixedAtStart)[number]): boolean {
  return JSON.stringify(before[key]) !== JSON.stringify(after[key]);
}
