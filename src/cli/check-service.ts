import { readFile } from 'node:fs/promises';
import { serviceOf } from '../config/installed-service.ts';
import type { InstalledService } from '../config/installed-service.ts';
import type { Problem } from '../config/load.ts';
import { findUser } from '../systemd/passwd.ts';
import { dropInText, needsOf } from '../systemd/drop-in.ts';
import type { UnitNeeds } from '../systemd/drop-in.ts';
import { UnitTextError } from '../systemd/unit-text.ts';
import type { CheckedConfig } from './read-config.ts';
import { CommandError } from './shell.ts';
import { readMachine, SERVICE_USER } from './unit-needs.ts';
import type { Machine } from './unit-needs.ts';
import { unitNeedsOf } from './systemd-drop-in.ts';
import { canRead } from './probe-access.ts';

type Finding = Pick<Problem, 'key' | 'message' | 'severity'>;

/**
 * What keeps an installed service from its configuration and its folders: root, who asks, may do everything there, and its user
 * may not. Only root can find out.
 */
export async function serviceProblems(checked: CheckedConfig): Promise<readonly Problem[]> {
  const { file, config, locate } = checked;
  const service = serviceOf(file);
  if (service === null || process.geteuid?.() !== 0) return [];
  const machine = await readMachine((passwd, group) => findUser(SERVICE_USER, passwd, group), true);
  // A machine without the user has no such service: the file is read by somebody else, as in a container.
  if (machine.user === null) return [];
  const findings = [
    ...(await fileFindings(file, machine.user)),
    ...(config === null ? [] : await siteFindings(file, service, machine)),
  ];
  return findings.map((finding) => ({ file, ...locate(finding.key), ...finding }));
}

async function fileFindings(file: string, user: NonNullable<Machine['user']>): Promise<readonly Finding[]> {
  if ((await canRead(user, file)) !== false) return [];
  const mend = `sudo chgrp ${SERVICE_USER} ${file} && sudo chmod 640 ${file}`;
  return [problem('', `the service, which runs as user ${SERVICE_USER}, cannot read this file: ${mend}`)];
}

async function siteFindings(file: string, service: InstalledService, machine: Machine): Promise<readonly Finding[]> {
  try {
    const site = await unitNeedsOf(file, service, machine);
    const installed = await readFile(service.dropInFile, 'utf8').catch(() => null);
    return [...closedFolders(site), ...dropInFindings(site, installed, service)];
  } catch (error) {
    if (error instanceof UnitTextError) return [problem('folders', error.message)];
    // As the service reads it, with its own home directory for `~`.
    if (error instanceof CommandError) return [problem('', `the service refuses it: ${error.message}`)];
    throw error;
  }
}

/** Folders that no line of the drop-in opens. */
export function closedFolders({ folders }: UnitNeeds): readonly Finding[] {
  return folders.flatMap(({ path, commands }, index) =>
    commands.map((command) =>
      problem(
        `folders[${index}].path`,
        `the service, which runs as user ${SERVICE_USER}, cannot use ${path}: ${command}`,
      ),
    ),
  );
}

/**
 * Whether the drop-in that is there is the one for this site. What a folder needs that is away is not known: its groups in the
 * drop-in may be right, and so may any file system.
 *
 * @param installed its text; null when there is none
 */
export function dropInFindings(
  site: UnitNeeds,
  installed: string | null,
  service: InstalledService,
): readonly Finding[] {
  const [needs, has] = [needsOf(dropInText(site)), needsOf(installed ?? '')];
  const isAway = site.folders.some(({ isThere }) => !isThere);
  const counts = (line: string): boolean => !(isAway && line.startsWith('SupplementaryGroups='));
  const missing = [...needs.difference(has)].filter(counts);
  const idle = [...has.difference(needs)].filter(
    (line) => counts(line) && !/^(?:Wants|After|IPAddressAllow)=/.test(line),
  );
  if (missing.length + idle.length === 0) return [];
  const { name, dropInFile, dropInCommand } = service;
  const what = installed === null ? 'is missing' : 'is not what these folders need now';
  const commands = [dropInCommand, 'sudo systemctl daemon-reload', `sudo systemctl restart ${name}`];
  return [{ key: 'folders', message: `${dropInFile} ${what}: ${commands.join(' && ')}`, severity: 'warning' }];
}

function problem(key: string, message: string): Finding {
  return { key, message, severity: 'error' };
}
