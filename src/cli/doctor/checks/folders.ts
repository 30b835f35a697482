import { whyFrozenAtStart } from '../../../watch/root.ts';
import { openLedgerToRead } from '../../../daemon/state/ledger-to-read.ts';
import { LedgerError } from '../../../ledger/ledger-error.ts';
import { shellWord } from '../../../shell-word.ts';
import { readLimits } from '../../../watch/kernel.ts';
import { folderHints, readWatchingMachine } from '../../configure/folder-hints.ts';
import { commandLine, problem, SkippedError, configOf, warning } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';
import type { Patient } from '../patient.ts';

/**
 * Checks that each folder is still the same directory, not the empty one under a mount point or another disk in its
 * place.
 */
export const mounts: Check = {
  name: 'identity of the folders',
  run: async (patient) => {
    const { status } = patient;
    if (status !== null)
      return status.folders.flatMap(({ path, state, why }) =>
        state === 'frozen' ? [frozen(path, why ?? 'frozen', patient)] : [],
      );
    return fromLedger(patient);
  },
};

async function fromLedger(patient: Patient): Promise<readonly Finding[]> {
  const { config } = patient;
  if (config === null) throw new SkippedError('neither a daemon nor a configuration says which folders');
  await using ledger = await openLedgerToRead(config).catch(saidElsewhere);
  if (ledger === null) return [];
  const found = await Promise.all(
    config.folders.map(async ({ path }) => {
      const why = await whyFrozenAtStart(path, ledger);
      return why === null ? [] : [frozen(path, why, patient)];
    }),
  );
  return found.flat();
}

/** Returns null for a ledger error, which another check reports. */
function saidElsewhere(error: unknown): null {
  if (error instanceof LedgerError) return null;
  throw error;
}

export function frozen(path: string, reason: string, patient: Pick<Patient, 'service' | 'option'>): Finding {
  const what = `${path} is frozen: ${reason}`;
  const command = (name: string): string => commandLine(patient, `${name} ${shellWord(path)}`);
  if (reason.includes('`dropcast adopt '))
    return problem(
      what,
      'nothing in it is uploaded until you say whether its files were uploaded',
      `${command('adopt')}    # they were; otherwise: ${command('resume')}`,
    );
  return problem(
    what,
    'nothing in it is uploaded until the right directory is back',
    `mount it again; if the directory that is there now is the right one: ${command('resume')}`,
  );
}

/** Checks that events can arrive: inotify limits, network shares, and unmounted file systems from fstab(5). */
export const watches: Check = {
  name: 'watching',
  run: async (patient) => {
    const hints = await folderHints(configOf(patient), await readWatchingMachine());
    return [...hints.map(({ message }) => watchFinding(message)), ...instanceFindings(readLimits().instances)];
  },
};

/** Makes a finding. For an inotify limit, adds the commands that raise it now and at every boot. */
export function watchFinding(message: string): Finding {
  const why = 'new files are found only at the next scan';
  const [, name, value] = /sysctl (fs\.inotify\.\w+)=(\d+)/.exec(message) ?? [];
  if (name !== undefined && value !== undefined)
    return warning(message.replace(/: raise it.*/, ''), why, sysctlFix(name, Number(value)));
  const mount = /`(sudo mount [^`]*)`/.exec(message)?.[1];
  if (mount === undefined) return warning(message, why);
  const missing = 'dropcast would mistake the directory under the mount point for the folder';
  return problem(message.replace(/: `.*/, ''), missing, mount);
}

/** Minimum number of inotify instances. Many systems default to 128 for all of a user's programs. */
const leastInstances = 32;

/** @param instances the kernel's limit; null if unknown */
export function instanceFindings(instances: number | null): readonly Finding[] {
  if (instances === null || instances >= leastInstances) return [];
  const what = `a user may open only ${instances} inotify instances`;
  const why = 'when other programs use them all, dropcast scans instead of watching';
  return [warning(what, why, sysctlFix('fs.inotify.max_user_instances', 512))];
}

function sysctlFix(name: string, value: number): string {
  return `echo '${name}=${value}' | sudo tee /etc/sysctl.d/60-dropcast-${name.split('.').at(-1)}.conf && sudo sysctl --system`;
}
