import { statfs } from 'node:fs/promises';
import type { FilesView } from '../../../view/files/files-view.ts';
import { shellWord } from '../../../shell-word.ts';
import { unlessHung } from '../../../unless-hung.ts';
import { queryRunningDaemon } from '../../control.ts';
import { formatBytes } from '../../output/format.ts';
import { hungFix, problem, SkippedError, warning } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';
import type { Patient } from '../patient.ts';

/** Free space on a file system. */
export interface Room {
  readonly freeBytes: number;
  /** Null if the file system does not report inodes. */
  readonly freeInodes: number | null;
}

/** Checks free space and inodes in the state directory and the folders. */
export const disk: Check = {
  name: 'disk',
  run: async (patient) => {
    const { checked } = patient;
    if (checked?.paths == null) throw new SkippedError('no configuration says which disks');
    const { stateDir, folders } = checked.paths;
    const largest = await largestFile(patient);
    const found = await Promise.all([
      look(stateDir, (room) => stateVerdict(stateDir, room)),
      ...folders.map(({ path }) => look(path, (room) => folderVerdict(path, room, largest))),
    ]);
    return found.flat();
  },
};

const leastForState = { problem: 50 * 2 ** 20, warning: 2 ** 30 };
const fewInodes = 1_000;

/** Checks that the ledger, receipts and backups have room to grow. */
export function stateVerdict(path: string, { freeBytes, freeInodes }: Room): readonly Finding[] {
  const why = 'the ledger, its backups and the receipts are written there: without them nothing is uploaded';
  const fix = `df -h ${shellWord(path)}; df -i ${shellWord(path)}    # then free some space there`;
  const what = `the disk of the state directory ${path} has ${formatBytes(freeBytes)} left`;
  if (freeBytes < leastForState.problem) return [problem(what, why, fix)];
  if (freeBytes < leastForState.warning) return [warning(what, why, fix)];
  return inodeFinding(path, freeInodes, { why, fix });
}

/** @param largest size of the largest file seen, in bytes */
export function folderVerdict(path: string, { freeBytes, freeInodes }: Room, largest: number): readonly Finding[] {
  const fix = `df -h ${shellWord(path)}; df -i ${shellWord(path)}    # then free some space there, or set after_ready: { delete: { when_full: 85% } }`;
  const why = 'large files cannot be copied there completely';
  const what = `the disk of ${path} has ${formatBytes(freeBytes)} left; the largest file so far had ${formatBytes(largest)}`;
  if (freeBytes < largest) return [warning(what, why, fix)];
  return inodeFinding(path, freeInodes, { why, fix });
}

function inodeFinding(
  path: string,
  free: number | null,
  { why, fix }: Pick<Finding, 'why' | 'fix'>,
): readonly Finding[] {
  if (free === null || free >= fewInodes) return [];
  return [warning(`the disk of ${path} has room for only ${free} more files (inodes)`, why, fix)];
}

async function look(path: string, verdict: (room: Room) => readonly Finding[]): Promise<readonly Finding[]> {
  const found = await unlessHung(
    statfs(path).then(
      (disk) => disk,
      () => 'missing' as const,
    ),
  );
  // Another check reports the missing directory.
  if (found === 'missing') return [];
  if (found === null) return [problem(`${path} does not respond`, 'its files are not uploaded', hungFix)];
  return verdict({ freeBytes: found.bavail * found.bsize, freeInodes: found.files === 0 ? null : found.ffree });
}

/** Size of the largest file among those that the daemon lists to any user. */
async function largestFile({ reach, status }: Patient): Promise<number> {
  if (reach === null || status === null) return 0;
  const { files } = await queryRunningDaemon<FilesView>(reach, '/files?limit=1000');
  return Math.max(0, ...files.map(({ size }) => size));
}
