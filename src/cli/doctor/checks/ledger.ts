import { stat } from 'node:fs/promises';
import { inspectState } from '../../../daemon/state/inspect-state.ts';
import { receiptsSince } from '../../../ledger/receipts.ts';
import type { ShowView } from '../../../view/files/show-view.ts';
import { backupsOf } from '../../../ledger/sqlite/backups.ts';
import { ledgerPath } from '../../../ledger/sqlite/recovery.ts';
import { queryRunningDaemon } from '../../control.ts';
import { findingFrom, needsSudo, problem, SkippedError, warning } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';
import type { Patient } from '../patient.ts';

/** Checks that the ledger can be read and written, is intact, and contains what the receipts state. */
export const ledger: Check = {
  name: 'ledger and receipts',
  run: async (patient) => {
    const { checked, reach } = patient;
    if (checked?.paths == null || reach === null) throw new SkippedError('no configuration says where it is');
    if (patient.isOutsider) throw new SkippedError(`this needs root: ${needsSudo}`);
    const why = 'without its ledger dropcast does not start, so that it uploads nothing twice';
    const found = await inspectState(checked.paths, reach.status.socket, reach.ledger !== null);
    return [...found.map((message) => findingFrom('problem', message, why)), ...(await unknownReceipts(patient))];
  },
};

/** Number of newest receipts to compare. A start compares all of them. */
const mostReceipts = 50;
const dayMs = 86_400_000;

async function unknownReceipts({ reach, status, now, service }: Patient): Promise<readonly Finding[]> {
  // Starting dropcast adds missing rows to the ledger, so only a running daemon's ledger can lack any.
  if (reach === null || status === null) return [];
  const read = await receiptsSince(reach.stateDir, now - dayMs).catch(() => null);
  if (read === null) return [];
  const ids = [...new Set(read.receipts.slice(-mostReceipts).map(({ id }) => id))];
  const isKnown = async (id: string): Promise<boolean> =>
    (await queryRunningDaemon<{ readonly found: readonly ShowView[] }>(reach, `/file?name=${encodeURIComponent(id)}`))
      .found.length > 0;
  const known = await Promise.all(ids.map(isKnown));
  return receiptVerdict(known.filter((each) => !each).length, read.strange, service);
}

/**
 * @param unknown number of receipts for files without a row
 * @param strange number of lines that are not receipts
 */
export function receiptVerdict(unknown: number, strange: number, service: Patient['service']): readonly Finding[] {
  const restart = service === null ? 'stop the daemon, then: dropcast run' : `sudo systemctl restart ${service.name}`;
  const fix = `${restart}    # at the start dropcast adds what the ledger lacks`;
  const older = `${unknown} of the newest receipts are of files that the ledger does not know`;
  const damaged = `receipts.jsonl has ${strange} lines that are not receipts`;
  return [
    ...(unknown === 0
      ? []
      : [problem(older, 'they could be uploaded a second time: the ledger is older than they are', fix)]),
    ...(strange === 0 ? [] : [warning(damaged, 'it was edited or damaged, and a lost ledger is rebuilt from it')]),
  ];
}

/** Checks that there is a recent backup of the ledger. */
export const backups: Check = {
  name: 'backups of the ledger',
  run: async ({ checked, status, now }) => {
    if (checked?.paths == null) throw new SkippedError('no configuration says where they are');
    const { stateDir } = checked.paths;
    const [newest] = await backupsOf(stateDir);
    const written = await Promise.all([ledgerPath(stateDir), `${ledgerPath(stateDir)}-wal`].map(writtenAt));
    return backupVerdict({
      backupAt: newest === undefined ? null : await writtenAt(newest),
      writtenAt: Math.max(...written),
      runningSince: status?.daemon.started_at ?? null,
      now,
    });
  },
};

/**
 * A backup is late if the ledger is newer by more than this. A backup is made every 15 minutes if anything was written.
 */
const lateMs = 3_600_000;

/**
 * Times are in epoch milliseconds; 0 means never.
 *
 * @param at.backupAt null if there is no backup
 */
export function backupVerdict(at: {
  readonly backupAt: number | null;
  readonly writtenAt: number;
  readonly runningSince: number | null;
  readonly now: number;
}): readonly Finding[] {
  const { backupAt, writtenAt, runningSince, now } = at;
  const isDue = runningSince !== null && now - runningSince > lateMs && writtenAt > 0;
  const isLate = backupAt === null || writtenAt - backupAt > lateMs;
  if (!isDue || !isLate) return [];
  const old = 'the newest backup is more than an hour older than the ledger';
  return [
    warning(
      backupAt === null ? 'there is no backup of the ledger' : old,
      'if the ledger is damaged, more of it is lost; the log says why backups fail',
      "journalctl -u 'dropcast*' --grep 'backed up'    # usually the disk is full",
    ),
  ];
}

async function writtenAt(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.mtimeMs ?? 0;
}
