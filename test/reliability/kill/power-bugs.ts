import type { Invariant } from '../judge/invariants.ts';
import { durabilityBugs } from '../planted/bugs.ts';
import type { Edit } from '../planted/plant.ts';
import type { Point } from './points.ts';
import type { Workload } from './runs.ts';

interface PowerBug {
  readonly edits: readonly Edit[];
  /** One file without it. */
  readonly workload?: Workload;
  /** When the power fails. */
  readonly at: Point;
  readonly caughtBy: Invariant;
}

const {
  'the ledger is written with synchronous=NORMAL': unsyncedLedger,
  'receipts are written and not synced': unsyncedReceipts,
} = durabilityBugs;

/** What only a disk that forgets shows. */
export const powerBugs: Readonly<Record<string, PowerBug>> = {
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
  'the name of a new export is not synced, and the power fails': {
    edits: [{ anchor: 'if (size === 0) await syncPath(dirname(path));', instead: '' }],
    workload: 'linked',
    // The first time, both exports are empty. The second time, the ledger knows lines of links.csv.
    at: { action: 'before', at: 2, only: 'create /links.ndjson' },
    caughtBy: 'each export has every finished video once',
  },
};
