import { existsSync } from 'node:fs';
import { checkDirectories } from '../../config/check-directories.ts';
import type { Config } from '../../config/config.ts';
import { type InstalledService, installedService } from '../../config/installed-service.ts';
import { loadConfig } from '../../config/load.ts';
import type { Problem } from '../../config/problem.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { SERVICE_USER } from '../../read-permission.ts';
import { inspectOnline } from '../configure/online-problems.ts';
import { formatDuration } from '../output/format.ts';
import { badConfig } from '../read-config.ts';
import { CommandError, type Shell, exitCodes } from '../shell.ts';
import type { AnswerFlags } from './answers.ts';
import { beforeWriting, commandWith } from './resume-command.ts';
import { makeFolder } from './make-folder.ts';
import { giveAccess, installDropIn } from './open-folders.ts';
import { placeFile, planLines, requireReplaceable } from './place-file.ts';
import { questionsOf } from './questions.ts';
import type { Questions } from './questions.ts';
import { type SetupFiles, planFiles } from './setup-files.ts';
import { startService, untilReady } from './start-service.ts';
import { unitState } from './systemctl.ts';
import { runTestClip } from './test-clip.ts';

export interface SetupOptions extends AnswerFlags {
  readonly instance?: string;
  readonly group?: string;
  readonly force?: boolean;
  readonly testClip?: boolean;
  readonly probe?: boolean;
  readonly plan?: boolean;
}

/**
 * `dropcast setup`: asks for answers and ends with an installed service that watches its folder. Steps that were
 * already done do nothing, so running setup again continues after a failure.
 *
 * @param samples folder of the sample media
 */
export async function setup(samples: string, shell: Shell, options: SetupOptions): Promise<void> {
  const service = installedService(options.instance ?? null);
  await requireMachine(service);
  shell.takeOverSignals();
  const questions = options.yes === true ? null : questionsOf(shell);
  let given: SetupOptions = options;
  const noted = (answer: AnswerFlags): void => void (given = { ...given, ...answer });
  const again = (): string => commandWith('sudo dropcast setup', given);
  const { files, folder } = await beforeWriting(() => planFiles(shell, options, { service, questions, noted }), again);
  if (options.plan === true) return sayPlan(shell, service, { files, folder, isForced: options.force === true });
  for (const file of files) await requireReplaceable(file, options.force === true);
  const consent = options.yes === true ? 'given' : questions;
  const unit = `${service.name}.service`;
  const writing: readonly Step[] = [
    { name: 'Folder', run: async () => (folder === null ? null : makeFolder(folder, options.group ?? null, shell)) },
    ...files.map((file) => ({
      name: file.isSecret === true ? 'Key' : 'Configuration',
      run: () => placeFile(file),
    })),
  ];
  const steps: readonly Step[] = [
    { name: 'Permissions', run: () => giveAccess(service, consent) },
    { name: 'Unit', run: () => installDropIn(service, async () => (await unitState(unit)).needsReload) },
    { name: 'Check', run: () => checkAll(shell, service) },
    { name: 'Service', run: () => startService(service) },
    { name: 'Ready', run: async () => untilReady(await configOf(shell, service), shell.stopping, patienceMs) },
    { name: 'Test clip', run: () => testClip(shell, service, { samples, isWanted: options.testClip, questions }) },
    { name: 'Probe', run: () => probeService(shell, service, { samples, isWanted: options.probe, questions }) },
  ];
  await runSteps(shell, writing, `\`${again()}\``);
  // From here on, the configuration contains the answers.
  const { instance, yes, testClip: isClipWanted, probe: isProbeWanted } = options;
  const rest = commandWith('sudo dropcast setup', { instance, yes, testClip: isClipWanted, probe: isProbeWanted });
  await runSteps(shell, steps, `\`${rest}\``);
  const { folders } = await configOf(shell, service);
  const group = folder === null || folder.isThere ? null : (options.group ?? SERVICE_USER);
  const named = options.instance === undefined ? '' : ` --config ${service.configFile}`;
  shell.stdout.write(`\n${nextLines({ path: folders[0]?.path ?? '', group, named }).join('\n')}\n`);
}

/**
 * Final lines of setup: who may drop files, and what to do next. Pure.
 *
 * @param of.group the newly created folder's group; null if the folder kept its permissions
 * @param of.named the `--config` option that `dropcast status` needs, or empty
 */
export function nextLines(of: {
  readonly path: string;
  readonly group: string | null;
  readonly named: string;
}): readonly string[] {
  const { path, group, named } = of;
  const looks = group === SERVICE_USER ? ', and view its status' : '';
  return [
    ...(group === null
      ? []
      : [
          `Members of the group ${group} may drop files${looks}. To add a person: sudo usermod -aG ${group} NAME    # from the next login`,
        ]),
    `Next: drop a file into ${path}, then \`sudo dropcast status${named}\``,
  ];
}

async function sayPlan(
  { stdout }: Shell,
  { name, dropInFile }: InstalledService,
  { files, folder, isForced }: SetupFiles & { readonly isForced: boolean },
): Promise<void> {
  const lines = await planLines(folder, files, { isForced });
  const then = `Then: would give the service access to its folders (asks first), bring ${dropInFile} up to date, check all of it with the service, and start ${name}.service`;
  stdout.write(`${[...lines, then].join('\n')}\n`);
}

const patienceMs = 60_000;

/**
 * How long to wait for the test clip. It needs up to a minute to settle, and the service takes some time to process it.
 */
const clipPatienceMs = 180_000;

async function requireMachine(service: InstalledService): Promise<void> {
  if (!existsSync('/run/systemd/system'))
    throw new CommandError(
      'this machine does not run systemd (most containers do not), so there is no service to set up: `dropcast init` writes a configuration, and `dropcast run` works with it',
    );
  if (process.geteuid?.() !== 0)
    throw new CommandError(
      'only root can set up the service: run `sudo dropcast setup`, or `dropcast init` for yourself',
    );
  if (!(await unitState(`${service.name}.service`)).isLoaded)
    throw new CommandError(
      `there is no unit ${service.name}.service on this machine: install the dropcast package first (docs/install.md)`,
    );
}

async function checkAll(shell: Shell, service: InstalledService): Promise<string> {
  const config = await configOf(shell, service);
  const wrong = await inspectOnline(config, shell.stopping);
  if (wrong.length === 0) return 'configuration, key and channels are fine';
  throw new CommandError(wrong.map(({ key, message }) => `${key}: ${message}`).join('\n'));
}

/**
 * Loads the service's configuration. Ignores folders that are closed to root, which proves nothing about the service,
 * as on a share with `root_squash`; the running daemon reports its own problems.
 *
 * @throws {CommandError} with every other problem of the file and its folders
 */
async function configOf(shell: Shell, service: InstalledService): Promise<Config> {
  const { config, paths, problems, locate } = await loadConfig(service.configFile, shell);
  const around = paths === null ? [] : await checkDirectories(paths, locate);
  const isRoots = ({ passing, message }: Problem): boolean => passing === true && message.includes('(EACCES)');
  const wrong = [...problems, ...around].filter((problem) => problem.severity === 'error' && !isRoots(problem));
  if (config !== null && wrong.length === 0) return config;
  throw badConfig(wrong, '/');
}

/** An optional step. Without an answer and without questions, it is skipped. */
interface Wanted {
  readonly samples: string;
  readonly isWanted: boolean | undefined;
  readonly questions: Questions | null;
}

/** The optional step that runs `dropcast probe`. @throws {CommandError} if the probe fails */
export async function probeService(
  shell: Shell,
  service: InstalledService,
  { samples, isWanted, questions }: Wanted,
): Promise<string | null> {
  const question = 'Find out which settings the service needs? One small video is created and deleted again.';
  if (!(isWanted ?? (await questions?.confirm(question)) ?? false)) return null;
  const { probe } = await import('../probe/probe.ts');
  const exitCode = await probe(shell, samples, { config: service.configFile, yes: true });
  if (exitCode === exitCodes.fine) return 'see above; `dropcast probe` repeats it';
  throw new CommandError('the probe failed: see above', exitCode);
}

async function testClip(shell: Shell, service: InstalledService, wanted: Wanted): Promise<string | null> {
  const isWanted =
    wanted.isWanted ?? (await wanted.questions?.confirm('Send a test clip now? It is removed again.')) ?? false;
  const config = await configOf(shell, service);
  const [folder] = config.folders;
  if (!isWanted || folder === undefined) return null;
  const { problem, link, leftovers } = await runTestClip({
    config,
    folder,
    samples: wanted.samples,
    signal: shell.stopping,
    reached: (stage, afterMs) => shell.stderr.write(`  ${stage} after ${formatDuration(afterMs)}\n`),
    patienceMs: clipPatienceMs,
  });
  if (problem !== null || leftovers.length > 0)
    throw new CommandError([problem, ...leftovers].filter((line) => line !== null).join('\nleft: '));
  return `its video was ready${link === null ? '' : ` at ${link}`}; video and file are removed again`;
}

/** One step of setup. Repeating a step does nothing. */
export interface Step {
  readonly name: string;
  /** @returns what was done, or that nothing was necessary; null to print nothing */
  run(): Promise<string | null>;
}

/**
 * Runs the steps in order and reports what each one did.
 *
 * @param again the command that continues after a failure
 * @throws {CommandError} naming the failed step, the reason, and how to continue
 */
export async function runSteps(
  { stdout, stopping }: Pick<Shell, 'stdout' | 'stopping'>,
  steps: readonly Step[],
  again: string,
): Promise<void> {
  for (const { name, run } of steps) {
    try {
      if (stopping.aborted) throw new CommandError('stopped');
      const did = await run();
      if (did !== null) stdout.write(`${name}: ${did.split('\n').map(escapeControls).join('\n')}\n`);
    } catch (error) {
      if (!(error instanceof CommandError) && !(error instanceof Error && 'syscall' in error)) throw error;
      const exitCode = error instanceof CommandError ? error.exitCode : exitCodes.failed;
      const message = `setup stopped at this step: ${name}\n${error.message}\nFix this, then run ${again} again: it continues here.`;
      throw new CommandError(message, exitCode, { cause: error });
    }
  }
}
