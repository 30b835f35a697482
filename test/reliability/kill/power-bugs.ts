import type { Invariant } from '../judge/invariants.ts';
import { durabilityBugs } from '../planted/bugs.ts';
import type { Edit } from '../planted/plant.ts';
import type { Point } from './points.ts';

interface PowerBug {
  readonly edits: readonly Edit[];
  /** When the power fails, in a run with one file. */
  readonly at: Point;
  readonly caughtBy: Invariant;
}

const {
  'the ledger is written with synchronous=NORMAL': unsyncedLedger,
  'receipts are written and not synced': unsyncedReceipts,
} = durabilityBugs;

/** What only a disk that forgets shows. */
export const powerBugs = {
  'the ledger is written with synchronous=NORMAL, and the power fails': {
    edits: unsyncedLedger,
    // The third answer, after those to two questions of the start, is that of the create: the service has made the record, and only the
    // intent is written down. A write to the receipts is no such moment: the counter of the folder's mark races the answer.
    at: { action: 'after', at: 3, only: 'recv tcp' },
    caughtBy: 'every empty record is in use or listed',
  },
  'neither the ledger nor the receipts are synced, and the power fails': {
    edits: [...unsyncedLedger, ...unsyncedReceipts],
    // The service has everything. The first line of the receipts is the counter of the folder's mark, so the folder freezes and nothing is
    // sent twice.
    at: { action: 'after', at: 4, only: 'write /receipts.jsonl' },
    caughtBy: 'every process ends, in time and with an exit code that says how',
  },
} satisfies Record<string, PowerBug>;
