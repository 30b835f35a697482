import type { InstalledService } from '../../config/installed-service.ts';
import type { UnitNeeds } from '../../systemd/drop-in.ts';
import { installFile } from '../systemd/install-file.ts';
import { CommandError } from '../shell.ts';
import { requireDropInText, requireUnitNeeds } from '../systemd/drop-in.ts';
import type { Questions } from './questions.ts';
import { runProgram } from './systemctl.ts';

/**
 * Gives the service's user the missing rights in the folders. Permissions of existing directories change only with the
 * operator's consent.
 *
 * @param consent `given` by --yes; otherwise how to ask for consent, or null without a terminal
 */
export async function giveAccess(service: InstalledService, consent: 'given' | Questions | null): Promise<string> {
  const commands = commandsFor(await needsOf(service));
  if (commands.length === 0) return 'the service can use the folders';
  const shown = commands.map((command) => `  ${command}`).join('\n');
  if (!(await isAgreed(consent, commands)))
    throw new CommandError(
      `the service cannot use all of its folders. These commands change their permissions; run them, or run setup with --yes:\n${shown}`,
    );
  for (const command of commands) await runProgram('/bin/sh', '-c', command.replace(/^sudo /, ''));
  const left = commandsFor(await needsOf(service));
  if (left.length === 0) return `changed permissions:\n${shown}`;
  throw new CommandError(`the service still cannot use its folders, after:\n${shown}`);
}

/** Writes the drop-in that gives the unit access to the folders, and makes systemd load it. */
export async function installDropIn(service: InstalledService, needsReload: () => Promise<boolean>): Promise<string> {
  const isNew = await installFile(service.dropInFile, requireDropInText(await needsOf(service)));
  if (isNew || (await needsReload())) await runProgram('systemctl', 'daemon-reload');
  return isNew ? `wrote ${service.dropInFile}` : `${service.dropInFile} stays as it is`;
}

function needsOf(service: InstalledService): Promise<UnitNeeds> {
  return requireUnitNeeds(service.configFile, service, true);
}

function commandsFor({ folders }: UnitNeeds): readonly string[] {
  return folders.flatMap(({ commands, groupCommand }) => [
    ...commands,
    ...(groupCommand === null ? [] : [groupCommand]),
  ]);
}

async function isAgreed(consent: 'given' | Questions | null, commands: readonly string[]): Promise<boolean> {
  if (consent === 'given' || consent === null) return consent !== null;
  for (const command of commands) consent.object(command);
  return consent.confirm('The service lacks permissions. Run these commands?');
}
