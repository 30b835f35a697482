import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { byPlace, formatProblem } from '../../config/problem.ts';
import type { Problem } from '../../config/problem.ts';
import { inspectFolders } from '../../daemon/inspect-folders.ts';
import type { LearnedLimit } from '../../pipeline/file/size-limit.ts';
import { sizeLimitOf } from '../../view/files/size-limit-view.ts';
import type { SizeLimitView } from '../../view/files/size-limit-view.ts';
import { suspectsOf } from '../../view/files/suspects.ts';
import type { SuspectsView, SuspectView } from '../../view/files/suspects.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { inspectState } from '../../daemon/state/inspect-state.ts';
import { queryDaemonOrLedger } from '../control.ts';
import { serviceProblems } from '../systemd/check-service.ts';
import { folderHints, readWatchingMachine } from './folder-hints.ts';
import { largeFiles } from './large-files.ts';
import { inspectOnline } from './online-problems.ts';
import { counted } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { readConfig } from '../read-config.ts';
import type { CheckedConfig } from '../read-config.ts';
import type { Shared } from '../registry.ts';
import { exitCodes, onRefusal } from '../shell.ts';
import type { Shell } from '../shell.ts';

/** `dropcast check`: reports every problem with the configuration, folders, state and key in one run. */
export async function check(shell: Shell, options: Shared & { readonly online?: boolean }): Promise<number> {
  const checked = await readConfig(shell, options.config);
  const { file, config } = checked;
  const further = [
    ...(await stateProblems(checked)),
    ...(await folderProblems(checked)),
    ...(await serviceProblems(checked)),
  ];
  const online =
    config === null || options.online !== true ? [] : await onlineProblems(checked, config, shell.stopping);
  const problems = [...checked.problems, ...further, ...online].toSorted(byPlace);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  if (options.json === true) {
    printJson({ v: 1, file, ok: errors === 0, problems }, shell.stdout);
  } else {
    for (const problem of problems) shell.stdout.write(`${formatProblem(problem, shell.cwd)}\n`);
    shell.stdout.write(conclusion({ file, config, errors, isOnline: options.online === true }));
  }
  if (errors === 0) return exitCodes.fine;
  return checked.problems.some(isMistake) ? exitCodes.badConfig : exitCodes.failed;
}

/** Whether a problem is a mistake in the configuration. A disk's refusal is not, as it may pass without a change. */
function isMistake({ severity, key, passing }: Problem): boolean {
  return severity === 'error' && !(key === 'state_dir' && passing === true);
}

/** Problems in the state directory, unless it was already reported as unusable. */
async function stateProblems({ config, paths, problems, locate }: CheckedConfig): Promise<readonly Problem[]> {
  const key = 'state_dir';
  const isNamed = problems.some((problem) => problem.key === key && problem.severity === 'error');
  if (paths === null || isNamed) return [];
  const { file, stateDir } = paths;
  // A broken configuration might not name the socket. This is the default path, or a link to the socket.
  const socket = config?.status.socket ?? join(stateDir, 'dropcast.sock');
  const found = await inspectState(paths, socket, config !== null && config.ledger !== null);
  return found.map((message) => ({ file, ...locate(key), key, message, severity: 'error' }));
}

/** Folders that another dropcast is watching, and obstacles to watching them. */
async function folderProblems({ config, paths, locate }: CheckedConfig): Promise<readonly Problem[]> {
  if (paths === null) return [];
  const found = await inspectFolders(paths);
  const hints = config === null ? [] : await folderHints(config, await readWatchingMachine());
  const large = config === null ? [] : await largeFiles(config, await learnedLimit(config));
  const all = [...found, ...[...hints, ...large].map((hint) => ({ ...hint, severity: 'warning' as const }))];
  return all.map(({ key, message, severity }) => ({ file: paths.file, ...locate(key), key, message, severity }));
}

/** Returns the limit learned from an upload host; null also if the ledger cannot be read. */
async function learnedLimit(config: Config): Promise<LearnedLimit | null> {
  const limit = queryDaemonOrLedger<SizeLimitView>(null, config, '/size-limit', sizeLimitOf);
  return (await limit.catch(onRefusal(() => null)))?.learned ?? null;
}

/** Problems found by asking the service, and records that dropcast may have left empty on it. */
async function onlineProblems(
  checked: CheckedConfig,
  config: Config,
  signal: AbortSignal,
): Promise<readonly Problem[]> {
  const { file, locate } = checked;
  const key = 'service';
  const empty = (await suspectsIn(config)).map(({ name, title, path, why }): Problem => {
    const message = `record ${name} "${escapeControls(title)}" of ${escapeControls(path)} may be empty: ${why}`;
    return { file, ...locate(key), key, message, severity: 'warning' };
  });
  const online = await inspectOnline(config, signal);
  return [...online.map((found): Problem => ({ file, ...locate(found.key), ...found })), ...empty];
}

/**
 * Returns records that may be empty. An unreadable ledger must not hide the other findings, so its errors are ignored.
 */
async function suspectsIn(config: Config): Promise<readonly SuspectView[]> {
  const none: SuspectsView = { v: 1, suspects: [] };
  const view = queryDaemonOrLedger<SuspectsView>(null, config, '/suspects', async (ledger) =>
    ledger === null ? none : suspectsOf(ledger, null),
  );
  return (await view.catch(onRefusal(() => none))).suspects;
}

function conclusion(of: { file: string; config: Config | null; errors: number; isOnline: boolean }): string {
  if (of.errors > 0) return `${counted(of.errors, 'problem')} in ${of.file}\n`;
  const rules = of.config?.folders.reduce((sum, { rules }) => sum + rules.length, 0) ?? 0;
  const online = of.isOnline ? ', and the service knows the key, channels and feeds' : '';
  return `${of.file} is fine: ${counted(of.config?.folders.length ?? 0, 'folder')}, ${counted(rules, 'rule')}${online}\n`;
}
