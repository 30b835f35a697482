import { readFile } from 'node:fs/promises';
import { serviceOf } from '../../config/installed-service.ts';
import type { InstalledService } from '../../config/installed-service.ts';
import type { Problem } from '../../config/problem.ts';
import { dropInText, needsOf } from '../../systemd/drop-in.ts';
import type { UnitNeeds } from '../../systemd/drop-in.ts';
import { UnitError } from '../../systemd/unit-text.ts';
import type { CheckedConfig } from '../read-config.ts';
import { CommandError } from '../shell.ts';
import { readMachine } from './unit-needs.ts';
import type { Machine } from './unit-needs.ts';
import { unitNeedsOf } from './drop-in.ts';
import { canRead } from './probe-access.ts';
import { SERVICE_USER } from '../../read-permission.ts';

type Finding = Pick<Problem, 'key' | 'message' | 'severity'>;

/**
 * Finds what blocks an installed service from its configuration and folders. Root has access to everything, the
 * service's user may not, and only root can test that.
 */
export async function serviceProblems(checked: CheckedConfig): Promise<readonly Problem[]> {
  const { file, config, locate } = checked;
  const service = serviceOf(file);
  if (service === null || process.geteuid?.() !== 0) return [];
  const machine = await readMachine(true);
  // Without that user the service is not installed, as in a container, where a different user reads the file.
  if (machine.user === null) return [];
  const findings = [
    ...(await fileFindings(file, machine.user)),
    ...(config === null ? [] : await siteFindings(file, service, machine)),
  ];
  return findings.map((finding) => ({ file, ...locate(finding.key), ...finding }));
}

async function fileFindings(file: string, user: NonNullable<Machine['user']>): Promise<readonly Finding[]> {
  if ((await canRead(user, file)) !== false) return [];
  const fix = `sudo chgrp ${SERVICE_USER} ${file} && sudo chmod 640 ${file}`;
  return [problem('', `the service (user ${SERVICE_USER}) cannot read this file; run: ${fix}`)];
}

async function siteFindings(file: string, service: InstalledService, machine: Machine): Promise<readonly Finding[]> {
  try {
    const site = await unitNeedsOf(file, service, machine);
    const installed = await readFile(service.dropInFile, 'utf8').catch(() => null);
    return [...closedFolders(site), ...dropInFindings(site, installed, service)];
  } catch (error) {
    if (error instanceof UnitError) return [problem('folders', error.message)];
    // The service resolves `~` to its own home directory.
    if (error instanceof CommandError) return [problem('', `not valid when the service reads it: ${error.message}`)];
    throw error;
  }
}

/** Reports folders that stay closed to the service even with the drop-in. */
export function closedFolders({ folders }: UnitNeeds): readonly Finding[] {
  return folders.flatMap(({ path, commands }, index) =>
    commands.map((command) =>
      problem(`folders[${index}].path`, `the service (user ${SERVICE_USER}) cannot use ${path}; run: ${command}`),
    ),
  );
}

/**
 * Compares the installed drop-in with what the folders need. A missing folder's needs are unknown, so the drop-in's
 * groups and file systems may be right for it.
 *
 * @param installed text of the drop-in; null if there is none
 */
export function dropInFindings(
  site: UnitNeeds,
  installed: string | null,
  service: InstalledService,
): readonly Finding[] {
  const [needs, has] = [needsOf(dropInText(site)), needsOf(installed ?? '')];
  const isMissing = site.folders.some(({ isThere }) => !isThere);
  const counts = (line: string): boolean => !(isMissing && line.startsWith('SupplementaryGroups='));
  const missing = [...needs.difference(has)].filter(counts);
  const unneeded = [...has.difference(needs)].filter(
    (line) => counts(line) && !/^(?:Wants|After|IPAddressAllow)=/.test(line),
  );
  if (missing.length + unneeded.length === 0) return [];
  const what = installed === null ? 'is missing' : 'is out of date';
  return [
    { key: 'folders', message: `${service.dropInFile} ${what}; run: ${service.setupCommand}`, severity: 'warning' },
  ];
}

function problem(key: string, message: string): Finding {
  return { key, message, severity: 'error' };
}
