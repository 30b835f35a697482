import { existsSync } from 'node:fs';
import { secretsIn } from '../../config/secret.ts';
import type { Config } from '../../config/config.ts';
import { formatProblem } from '../../config/problem.ts';
import type { Problem } from '../../config/problem.ts';
import { namesUsed, unknownNames } from '../../config/unknown-names.ts';
import type { ControlPorts, Reloaded } from '../../daemon/control/routes.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import { planReload } from '../../daemon/rules/plan-reload.ts';
import type { Logger } from '../../log/logger.ts';
import type { SecretValues } from '../../log/redaction.ts';
import type { NamesOfService } from '../../pipeline/service-names.ts';
import { nameProblems } from './online-problems.ts';
import { readConfig } from '../read-config.ts';
import type { Shell } from '../shell.ts';

interface ReloadContext {
  readonly shell: Shell;
  readonly logger: Logger;
  readonly secrets: SecretValues;
}

/**
 * Creates the reload function of a running daemon. It reads the configuration again and applies it; if the new one is
 * invalid, the old one stays active. The log reports which one is in use. Reloads run one at a time, so that the last
 * configuration wins.
 *
 * @param daemon its current configuration names the file to read
 * @returns a function that resolves with whether the configuration was applied, and the problems to display; it rejects
 *   when dropcast is stopping
 */
export function createReload(daemon: Daemon, context: ReloadContext): ControlPorts['reload'] {
  let last: Promise<unknown> = Promise.resolve();
  return (how) => {
    const next = last.then(() => reloadConfig(daemon, context, how));
    last = next.catch(() => undefined);
    return next;
  };
}

async function reloadConfig(
  daemon: Daemon,
  { shell, logger, secrets }: ReloadContext,
  { isPlanned }: Parameters<ControlPorts['reload']>[0],
): Promise<Reloaded> {
  refuseWhileStopping(shell);
  const before = daemon.config();
  const { file } = before;
  const tell = async (level: 'info' | 'error', text: string): Promise<void> => {
    daemon.news.add({ level, type: 'reload', text });
    await daemon.news.kept();
  };
  const refuse = async (problems: readonly string[]): Promise<Reloaded> => {
    if (!isPlanned) {
      logger.error('Reload refused: the new configuration is wrong, the old one stays active', { problems });
      await tell('error', 'Reload refused: the new configuration is wrong; the old one stays active');
    }
    return { ok: false, problems, config: file };
  };
  if (!existsSync(file)) return refuse([`${file} does not exist`]);
  const checked = await readConfig(shell, file);
  const { config, problems } = checked;
  refuseWhileStopping(shell);
  const lines = problems.map((problem) => formatProblem(problem, shell.cwd));
  if (config === null || problems.some((problem) => isRefusal(problem, before, config))) return refuse(lines);
  if (isElsewhere(before, config)) {
    if (!isPlanned) {
      logger.error('Reload refused: the new configuration needs a restart', { why: needsRestart });
      await tell('error', `Reload refused: ${needsRestart}`);
    }
    return { ok: false, problems: [needsRestart], config: file };
  }
  for (const secret of secretsIn(config)) secrets.add(secret.reveal());
  const names = await namesOf(config, { daemon, shell });
  refuseWhileStopping(shell);
  const unknown = names === null ? [] : unknownNames(config, names);
  const mistakes = unknown.filter(({ kind, name }) => !namesUsed(before)[kind].includes(name));
  if (mistakes.length > 0) {
    return refuse([...lines, ...nameProblems(mistakes, checked).map((problem) => formatProblem(problem, shell.cwd))]);
  }
  const gone = nameProblems(unknown, checked).map((problem) =>
    formatProblem({ ...problem, severity: 'warning' }, shell.cwd),
  );
  const warnings = [...lines, ...gone];
  if (isPlanned) {
    const plan = await planReload(daemon.ledger, { before, after: config, now: Date.now() });
    return { ok: true, problems: warnings, config: file, plan };
  }
  await daemon.reload(config, names);
  await tell('info', 'Configuration reloaded');
  logger.info('Reloaded', { config: config.file, warnings });
  const later = fixedAtStart.filter((key) => isOther(before, config, key));
  if (later.length === 0) return { ok: true, problems: warnings, config: file };
  logger.warn('Restart to apply some settings', { keys: later });
  return { ok: true, problems: [...warnings, `Restart to apply: ${later.join(', ')}`], config: file };
}

/** How long to wait for the service's answer. Longer than at startup, because a user is waiting for the result. */
const longestAskMs = 10_000;

/** The service's channel and feed names; null if it does not answer. */
async function namesOf(
  config: Config,
  { daemon, shell }: { readonly daemon: Daemon; readonly shell: Shell },
): Promise<NamesOfService | null> {
  const signal = AbortSignal.any([shell.stopping, AbortSignal.timeout(longestAskMs)]);
  const answer = await daemon.namesOf(config, signal);
  return answer.ok ? answer.value : null;
}

function refuseWhileStopping({ stopping }: Shell): void {
  if (stopping.aborted) throw new Error('dropcast is stopping');
}

/**
 * Whether a problem blocks the reload. A missing folder that is already being watched does not block other changes, but
 * a missing new folder is a mistake.
 */
function isRefusal({ severity, passing, key }: Problem, before: Config, after: Config): boolean {
  if (severity !== 'error' || passing !== true) return severity === 'error';
  const folder = after.folders.find((each) => key.startsWith(`${each.key}.`));
  return !before.folders.some(({ path }) => path === folder?.path);
}

/**
 * Settings that need a restart. A running daemon cannot move its ledger or control socket, or become another fleet
 * member.
 */
export const needsRestart = 'restart to change state_dir, ledger, host_name or status.socket';

/** Whether two configurations keep their files in different places or differ in their fleet membership. */
export function isElsewhere(before: Config, after: Config): boolean {
  const places = ({ stateDir, ledger, hostName, status }: Config): string =>
    JSON.stringify([stateDir, ledger, ledger?.password?.reveal(), ledger === null || hostName, status.socket]);
  return places(before) !== places(after);
}

/** Settings read once at startup: the log and the status page. */
const fixedAtStart = ['log', 'status'] as const;

function isOther(before: Config, after: Config, key: (typeof fixedAtStart)[number]): boolean {
  return JSON.stringify(before[key]) !== JSON.stringify(after[key]);
}
