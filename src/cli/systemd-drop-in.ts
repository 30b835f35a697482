import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { installedService } from '../config/installed-service.ts';
import type { InstalledService } from '../config/installed-service.ts';
import { formatProblem, loadConfig } from '../config/load.ts';
import type { Surroundings } from '../config/load.ts';
import { syncPath } from '../disk/sync-path.ts';
import { findUser } from '../systemd/accounts.ts';
import type { ServiceUser } from '../systemd/accounts.ts';
import { dropInText } from '../systemd/drop-in.ts';
import type { Site } from '../systemd/drop-in.ts';
import { UnitTextError } from '../systemd/unit-text.ts';
import { CommandError, exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';
import { readMachine, SERVICE_USER, surveySite } from './survey-site.ts';
import type { Machine } from './survey-site.ts';

/** `dropcast systemd drop-in`: what the unit needs for the folders of its configuration. */
export async function dropIn(
  shell: Shell,
  options: { readonly config?: string; readonly install?: boolean; readonly instance?: string },
): Promise<void> {
  const service = installedService(options.instance ?? null);
  const isRoot = process.geteuid?.() === 0;
  const file = service.dropInFile;
  if (options.install === true && !isRoot)
    throw new CommandError(`only root can write ${file}: run \`${sudoLine(options)}\``, exitCodes.failed);
  const configFile = options.config === undefined ? service.configFile : resolve(shell.cwd, options.config);
  const text = await textFor(configFile, service, isRoot).catch(explained);
  if (!isRoot) shell.stderr.write('Only modes were looked at: run it with sudo, then access control lists count too\n');
  if (configFile !== service.configFile)
    shell.stderr.write(
      `${service.name}.service reads ${service.configFile}; this is for the folders of ${configFile}\n`,
    );
  if (options.install !== true) {
    shell.stdout.write(text);
    return;
  }
  const isNew = await installFile(file, text);
  shell.stdout.write(isNew ? nextSteps(file, service) : `${file} is as it should be.\n`);
  // What only a person can do stands in the file too, but nobody would look there.
  for (const line of text.split('\n').filter((line) => /^# The (?:service|group) .*cannot/.test(line)))
    shell.stderr.write(`${line.slice(2)}\n`);
}

function explained(error: unknown): never {
  if (!(error instanceof UnitTextError)) throw error;
  throw new CommandError(error.message, exitCodes.failed, { cause: error });
}

async function textFor(configFile: string, service: InstalledService, isRoot: boolean): Promise<string> {
  const machine = await readMachine((passwd, group) => findUser(SERVICE_USER, passwd, group), isRoot);
  return dropInText(await siteOf(configFile, service, machine));
}

/**
 * What the service of a configuration needs on this machine.
 *
 * @throws {CommandError} when the configuration is wrong
 */
export async function siteOf(configFile: string, service: InstalledService, machine: Machine): Promise<Site> {
  const { config, premises, problems } = await loadConfig(configFile, asService(service, machine.user), 'without key');
  if (config !== null && premises !== null) return surveySite(config, { premises, service, machine });
  const lines = problems.map((problem) => formatProblem(problem, '/'));
  throw new CommandError(lines.join('\n'), exitCodes.badConfig);
}

/** As the service reads it: its directories, and its home for `~`. */
function asService({ stateDir, runtimeDir }: InstalledService, user: ServiceUser | null): Surroundings {
  const env = { STATE_DIRECTORY: stateDir, RUNTIME_DIRECTORY: runtimeDir };
  return { env, cwd: stateDir, home: user?.home ?? stateDir };
}

/**
 * Puts a file in place as a whole: systemd never reads half of it.
 *
 * @returns false when it was there already
 */
export async function installFile(path: string, text: string): Promise<boolean> {
  if ((await readFile(path, 'utf8').catch(() => null)) === text) return false;
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  // Of no ending that systemd reads.
  const partial = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    {
      await using file = await open(partial, 'wx', 0o644);
      // Whatever the umask of the caller is.
      await file.chmod(0o644);
      await file.writeFile(text);
      await file.sync();
    }
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
  await syncPath(dirname(path));
  return true;
}

function nextSteps(file: string, { name }: InstalledService): string {
  return [
    `${file} written. Now run:`,
    '  sudo systemctl daemon-reload',
    `  sudo systemctl restart ${name}    # what a service may write to is settled when it starts`,
    '',
  ].join('\n');
}

function sudoLine(options: { readonly config?: string; readonly instance?: string }): string {
  const more = [
    ...(options.instance === undefined ? [] : ['--instance', options.instance]),
    ...(options.config === undefined ? [] : ['--config', options.config]),
  ];
  return ['sudo dropcast systemd drop-in --install', ...more].join(' ');
}
