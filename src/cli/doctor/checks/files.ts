import { needsYouIn } from '../../../view/picture/read-rows.ts';
import type { FolderStatus } from '../../../intake/folder-status.ts';
import { stopOf, waitWords } from '../../../view/waits.ts';
import type { Wait } from '../../../view/waits.ts';
import { leftOutWords } from '../../../watch/inventory.ts';
import { isRunning, LeftoverFile, nameOf } from '../../probe/leftover.ts';
import { counted } from '../../output/format.ts';
import { commandLine, problem, SkippedError, warning } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';
import type { Patient } from '../patient.ts';

/** Reports files that need the operator, and a video that a probe has left. */
export const files: Check = {
  name: 'files and records',
  run: async (patient) => {
    const { status } = patient;
    const left = await leftoverFinding(patient);
    if (status === null && left.length > 0) return left;
    if (status === null) throw new SkippedError('the daemon is not running');
    const { counts, suspects, waits, folders } = status;
    return [
      ...left,
      ...filesVerdict({ stuck: needsYouIn(counts), suspects, waits }, patient),
      ...folders.flatMap((folder) => leftOutFinding(folder, patient)),
    ];
  },
};

/** Reports what an interrupted `dropcast probe` may have left on the service. */
async function leftoverFinding(patient: Patient): Promise<readonly Finding[]> {
  const stateDir = patient.checked?.paths?.stateDir;
  const left = stateDir === undefined ? null : await new LeftoverFile(stateDir).read().catch(() => null);
  if (left === null || isRunning(left, patient.now)) return [];
  return [
    warning(
      `an interrupted probe may have left ${nameOf(left)} on the service`,
      'viewers of its channel may see it',
      commandLine(patient, 'probe --clean-up'),
    ),
  ];
}

/** Reports files that `include` may have missed: they look like media, and `exclude` does not list them. */
export function leftOutFinding(
  { path, left_out: leftOut }: Pick<FolderStatus, 'path' | 'left_out'>,
  patient: Pick<Patient, 'service' | 'option'>,
): readonly Finding[] {
  if (leftOut.media === 0) return [];
  return [
    warning(
      `${path}: ${leftOutWords(leftOut)}`,
      'no pattern of `include` selects them, so they are never uploaded; add the extensions to `include`, or name the files in `exclude`',
      commandLine(patient, 'ls --left-out'),
    ),
  ];
}

export function filesVerdict(
  { stuck, suspects, waits }: { readonly stuck: number; readonly suspects: number; readonly waits: readonly Wait[] },
  patient: Pick<Patient, 'service' | 'option'>,
): readonly Finding[] {
  const stop = stopOf(waits);
  return [
    stop !== null && problem(waitWords(stop, Date.now()), 'nothing new is sent until it ends'),
    stuck > 0 &&
      warning(
        `${counted(stuck, 'file')} ${stuck === 1 ? 'needs' : 'need'} you`,
        'dropcast does nothing more with them on its own',
        commandLine(patient, 'ls --state needs-you'),
      ),
    suspects > 0 &&
      warning(
        `${counted(suspects, 'record')} on the service may be empty`,
        'a request to create one had no usable answer',
        commandLine(patient, 'suspects'),
      ),
  ].filter((each) => each !== false);
}
