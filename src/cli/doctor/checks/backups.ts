import { stat } from 'node:fs/promises';
import { backupsOf } from '../../../ledger/sqlite/backups.ts';
import { ledgerPath } from '../../../ledger/sqlite/recovery.ts';
import { SkippedError, warning } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';

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
