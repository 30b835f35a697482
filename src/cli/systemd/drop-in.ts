import { resolve } from 'node:path';
import { installedService } from '../../config/installed-service.ts';
import type { InstalledService } from '../../config/installed-service.ts';
import type { Environment } from '../../config/environment.ts';
import { loadConfig } from '../../config/load.ts';
import type { ServiceUser } from '../../passwd.ts';
import { dropInText } from '../../systemd/drop-in.ts';
import type { UnitNeeds } from '../../systemd/drop-in.ts';
import { UnitError } from '../../systemd/unit-text.ts';
import { installFile } from './install-file.ts';
import { badConfig } from '../read-config.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { readMachine, findUnitNeeds } from './unit-needs.ts';
import type { Machine } from './unit-needs.ts';

/** `dropcast systemd drop-in`: prints or installs the drop-in that gives the unit access to its folders. */
export async function dropIn(
  shell: Shell,
  options: { readonly config?: string; readonly install?: boolean; readonly instance?: string },
): Promise<void> {
  const service = installedService(options.instance ?? null);
  const isRoot = process.geteuid?.() === 0;
  const file = service.dropInFile;
  if (options.install === true && !isRoot)
    throw new CommandError(`only root can write ${file}; run: ${sudoLine(options)}`);
  const configFile = options.config === undefined ? service.configFile : resolve(shell.cwd, options.config);
  const text = requireDropInText(await requireUnitNeeds(configFile, service, isRoot));
  if (!isRoot) shell.stderr.write('Checked modes, but not access control lists: run it with sudo to check both.\n');
  if (configFile !== service.configFile)
    shell.stderr.write(
      `${service.name}.service reads ${service.configFile}, but this drop-in is for the folders of ${configFile}.\n`,
    );
  if (options.install !== true) {
    shell.stdout.write(text);
    return;
  }
  const isNew = await installFile(file, text);
  shell.stdout.write(isNew ? nextSteps(file, service) : `${file} is up to date.\n`);
  // The drop-in contains these lines too, but few people would look there.
  for (const line of text.split('\n').filter((line) => /^# The (?:service|group) .*cannot/.test(line)))
    shell.stderr.write(`${line.slice(2)}\n`);
}

/**
 * Finds what a service needs from its unit on this machine, according to a configuration.
 *
 * @throws {CommandError} when the configuration is invalid, or its paths cannot be trusted
 */
export async function requireUnitNeeds(
  configFile: string,
  service: InstalledService,
  isRoot: boolean,
): Promise<UnitNeeds> {
  try {
    return await unitNeedsOf(configFile, service, await readMachine(isRoot));
  } catch (error) {
    throw explained(error);
  }
}

/** As `dropInText`. @throws {CommandError} for a path that a unit file cannot contain */
export function requireDropInText(needs: UnitNeeds): string {
  try {
    return dropInText(needs);
  } catch (error) {
    throw explained(error);
  }
}

function explained(error: unknown): unknown {
  return error instanceof UnitError ? new CommandError(error.message, exitCodes.failed, { cause: error }) : error;
}

/**
 * @throws {CommandError} when the configuration is invalid
 * @throws {UnitError} when a path leads through a link that others can change
 */
export async function unitNeedsOf(configFile: string, service: InstalledService, machine: Machine): Promise<UnitNeeds> {
  const { config, paths, problems } = await loadConfig(configFile, asService(service, machine.user), 'without key');
  if (config !== null && paths !== null) return findUnitNeeds(config, { paths, service, machine });
  throw badConfig(problems, '/');
}

/** The service's environment: its directories, and its home for `~`. */
function asService({ stateDir, runtimeDir }: InstalledService, user: ServiceUser | null): Environment {
  const env = { STATE_DIRECTORY: stateDir, RUNTIME_DIRECTORY: runtimeDir };
  return { env, cwd: stateDir, home: user?.home ?? stateDir };
}

function nextSteps(file: string, { name }: InstalledService): string {
  return [
    `Wrote ${file}. Now run:`,
    '  sudo systemctl daemon-reload',
    `  sudo systemctl restart ${name}    # writable paths take effect at the start`,
    '',
  ].join('\n');
}

function sudoLine(options: { readonly config?: string; readonly instance?: string }): string {
  const { instance, config } = options;
  const more = Object.entries({ instance, config }).flatMap(([name, value]) => (value ? [`--${name}`, value] : []));
  return ['sudo dropcast systemd drop-in --install', ...more].join(' ');
}
