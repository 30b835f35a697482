import { access, constants, readFile } from 'node:fs/promises';
import { loadConfig } from '../config/load.ts';
import { configPaths } from '../config/paths.ts';
import type { ConfigPaths } from '../config/paths.ts';
import { formatProblem } from '../config/problem.ts';
import { escapeControls } from '../log/unsafe-characters.ts';
import { queryRunningDaemon, unknownLedger } from './control.ts';
import type { DaemonPlace } from './control.ts';
import { locateConfig } from './read-config.ts';
import { CommandError, exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';

/**
 * Finds the daemon, for commands that only talk to it. Works with a broken configuration: the daemon still runs with
 * the previous one, and that is when the operator needs these commands.
 *
 * @throws {CommandError} with exit code 78 and every problem, when no daemon is running at the place named in the file
 */
export async function requireDaemonPlace(shell: Shell, option: string | undefined): Promise<DaemonPlace> {
  const place = await locateConfig(shell, option);
  const { config, paths, problems } = await loadConfig(place, shell, 'without key');
  if (config !== null) return config;
  const lines = problems.map((problem) => formatProblem(problem, shell.cwd));
  const { file, stateDir, failureLog, socket } = paths ?? (await salvaged(place.file, shell));
  const reached: DaemonPlace = { ...unknownLedger, file, stateDir, failureLog, status: { socket } };
  const answer = await look(reached);
  if (!(await isReadable(file))) {
    // Group members may query the daemon even if they cannot read the file.
    if (answer !== 'answers') throw new CommandError(lines.join('\n'), exitCodes.badConfig);
    return reached;
  }
  if (answer === 'is not there') throw new CommandError(lines.join('\n'), exitCodes.badConfig);
  shell.stderr.write(
    `${escapeControls(file)} is broken, so a reload or restart would fail: \`dropcast check\` says why. ` +
      'The daemon still runs with the configuration that it read earlier.\n',
  );
  return reached;
}

async function look(place: DaemonPlace): Promise<'answers' | 'refuses' | 'is not there'> {
  try {
    await queryRunningDaemon(place, '/page');
    return 'answers';
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return error.exitCode === exitCodes.notRunning ? 'is not there' : 'refuses';
  }
}

async function isReadable(file: string): Promise<boolean> {
  return access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
}

/** Salvages the daemon's settings from text that is not valid YAML, as far as its lines are intact. */
async function salvaged(file: string, shell: Shell): Promise<ConfigPaths> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const valueOf = (line: RegExp): string | undefined => line.exec(text)?.[1]?.replaceAll(/^["']|["']$/g, '');
  const tree = {
    state_dir: valueOf(/^state_dir:\s+(\S+)/mu),
    status: { socket: valueOf(/^(?:status:\s*\{.*?|\s+)socket:\s+([^\s,}]+)/mu) },
  };
  return configPaths(tree, file, shell);
}
