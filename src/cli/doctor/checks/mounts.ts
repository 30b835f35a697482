import { whyFrozenAtStart } from '../../../watch/root.ts';
import { openLedgerToRead } from '../../../daemon/state/ledger-to-read.ts';
import { LedgerError } from '../../../ledger/ledger-error.ts';
import { shellWord } from '../../../shell-word.ts';
import { commandLine, problem, SkippedError } from '../finding.ts';
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
