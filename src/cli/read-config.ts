import type { Config } from '../config/config.ts';
import { checkDirectories } from '../config/check-directories.ts';
import { ConfigNotFoundError, findConfig } from '../config/find.ts';
import type { ConfigPlace } from '../config/find.ts';
import { loadConfig } from '../config/load.ts';
import type { Loaded } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';
import type { Problem } from '../config/problem.ts';
import { escapeControls } from '../log/unsafe-characters.ts';
import { CommandError, exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';

/** A configuration with all its problems, including those of the paths it names. */
export interface CheckedConfig extends Loaded {
  readonly file: string;
}

/** Reads the configuration and inspects the folders it names. Problems are returned, not thrown. */
export async function readConfig(shell: Shell, option: string | undefined): Promise<CheckedConfig> {
  const place = await locateConfig(shell, option);
  const loaded = await loadConfig(place, shell);
  const { paths, problems, locate } = loaded;
  // Folders are checked even if the file has errors, so that a misspelt key does not hide a missing folder.
  const around = paths === null ? [] : await checkDirectories(paths, locate);
  const all = [...problems, ...around].toSorted((one, other) => one.line - other.line);
  return { ...loaded, file: place.file, problems: all };
}

/**
 * Loads the configuration for a command. Warnings go to stderr.
 *
 * @param folders `may come later` for a daemon: a disk that is late at boot must not block all other folders
 * @throws {CommandError} with exit code 78 and every problem
 */
export async function requireConfig(
  shell: Shell,
  option: string | undefined,
  folders: 'must be there' | 'may come later' = 'must be there',
): Promise<Config> {
  const { config, problems, file } = await readConfig(shell, option);
  // Opening the ledger reports a disk's refusal with an exit code that makes systemd try again.
  const mayPass = (key: string): boolean => folders === 'may come later' || key === 'state_dir';
  const isWrong = problems.some(
    ({ severity, passing, key }) => severity === 'error' && !(passing === true && mayPass(key)),
  );
  if (config === null || isWrong)
    throw badConfig(problems, shell.cwd, `the configuration ${file} is wrong: nothing was started`);
  for (const problem of problems) shell.stderr.write(`${formatProblem(problem, shell.cwd)}\n`);
  return config;
}

/**
 * Loads the configuration for commands that only need to know where things are. Ignores problems outside the file, and
 * the key, which only the service may be able to read.
 */
export async function requireLoadable(shell: Shell, option: string | undefined): Promise<Config> {
  const place = await locateConfig(shell, option);
  const { config, problems } = await loadConfig(place, shell, 'without key');
  if (config !== null) return config;
  throw badConfig(problems, shell.cwd);
}

/**
 * The refusal of a wrong configuration.
 *
 * @param cwd directory from which the problems name the file
 * @param end what follows from the problems
 */
export function badConfig(problems: readonly Problem[], cwd: string, end?: string): CommandError {
  const lines = problems.map((problem) => formatProblem(problem, cwd));
  return new CommandError([...lines, ...(end === undefined ? [] : [end])].join('\n'), exitCodes.badConfig);
}

/**
 * @param advice for a user without a configuration
 * @throws {CommandError} with exit code 78 when no configuration is found
 */
export async function locateConfig(
  shell: Shell,
  option: string | undefined,
  advice = 'Copy config.example.yaml to one of these places, or try `dropcast demo`, which needs none',
): Promise<ConfigPlace> {
  try {
    return await findConfig(option, shell);
  } catch (error) {
    if (!(error instanceof ConfigNotFoundError)) throw error;
    throw new CommandError(`${escapeControls(error.message)}\n${advice}`, exitCodes.badConfig);
  }
}
