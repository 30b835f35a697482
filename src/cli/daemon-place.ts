import { access, constants, readFile } from 'node:fs/promises';
import { loadConfig } from '../config/load.ts';
import { configPaths } from '../config/paths.ts';
import type { ConfigPaths } from '../config/paths.ts';
import { succeeds } from '../errno.ts';
import { escapeControls } from '../log/unsafe-characters.ts';
import { placeOf, queryRunningDaemon } from './control.ts';
import type { DaemonPlace } from './control.ts';
import { badConfig, locateConfig } from './read-config.ts';
import { exitCodes, onRefusal } from './shell.ts';
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
  const reached = placeOf(paths ?? (await salvaged(place.file, shell)));
  const { file } = reached;
  const answer = await queryRunningDaemon(reached, '/page').then(
    () => exitCodes.fine,
    onRefusal(({ exitCode }) => exitCode),
  );
  // Group members may query the daemon even if they cannot read the file.
  const isClosed = !(await succeeds(access(file, constants.R_OK)));
  if (answer === exitCodes.notRunning || (isClosed && answer !== exitCodes.fine)) throw badConfig(problems, shell.cwd);
  if (isClosed) return reached;
  shell.stderr.write(
    `${escapeControls(file)} is broken, so a reload or restart would fail: \`dropcast check\` says why. ` +
      'The daemon still runs with the configuration that it read earlier.\n',
  );
  return reached;
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
