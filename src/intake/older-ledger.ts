import type { Facts, FileState } from '../pipeline/file/facts.ts';
import { isClosedDirectory, isIgnored, leftFromBefore, wasThereBefore } from '../pipeline/file/reasons.ts';
import type { ReasonCode } from '../pipeline/file/reasons.ts';
import type { Rows } from '../pipeline/file/rows.ts';
import type { SelectionStore } from '../pipeline/file/selection.ts';
import { heldFor } from './reroute.ts';

export interface OlderLedgerWorld {
  readonly selection: Pick<SelectionStore, 'ids'>;
  readonly rows: Pick<Rows, 'claim'>;
  /** Returns the time in epoch milliseconds. */
  now(): number;
}

/**
 * Prepares the rows of a folder whose ledger is an older copy, once an operator has answered. Files may have been
 * uploaded since the copy was made. Idempotent.
 *
 * @param isAdopted whether the operator confirmed that all files in the folder were uploaded
 */
export type DoubtRows = (folder: string, isAdopted: boolean) => Promise<void>;

export function createDoubtRows({ selection, rows, now }: OlderLedgerWorld): DoubtRows {
  return async (folder, isAdopted) => {
    for (const doubtful of [{ states: unsent }, { cause: 'ignored' satisfies ReasonCode }])
      for (let after: string | null | undefined; after !== null;) {
        const { ids, next } = await selection.ids({ folder, ...doubtful }, idsAtOnce, after);
        for (const id of ids) await rows.claim(id, (row) => row.write(doubted(row.facts, isAdopted, now())));
        after = next;
      }
  };
}

const unsent = ['queued', 'awaiting upload', 'retrying', 'failed', 'held'] satisfies FileState[];
const idsAtOnce = 500;

/** Returns the fields to change in a row of an outdated ledger. Pure. */
export function doubted(facts: Facts, isAdopted: boolean, now: number): Partial<Facts> {
  const { videoId, uploadedAt, uploadStartedAt, createdAt, end } = facts;
  if (uploadedAt !== null || wasThereBefore(facts) || isClosedDirectory(facts)) return {};
  // `uploadStartedAt` makes the upload query the service first. An ignored file's record is deleted if it is empty.
  if (videoId !== null && !isIgnored(facts))
    return end === null ? { uploadStartedAt: uploadStartedAt ?? createdAt ?? now } : {};
  return isAdopted ? { ...heldFor(leftFromBefore.recorded, now), end: 'skipped', notBefore: null } : {};
}

export const whyNotOlder = (folder: string): string =>
  `${folder} is not older than its ledger: there is nothing to record`;

export const recordedIn = (folder: string): string =>
  `The files in ${folder} are recorded as uploaded: \`dropcast retry\` still uploads one`;
