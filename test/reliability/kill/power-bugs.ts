import type { Invariant } from '../judge/invariants.ts';
import { durabilityBugs } from '../planted/bugs.ts';
import type { Edit } from '../planted/plant.ts';
import type { Point } from './points.ts';
import type { Trace } from './shim.ts';

interface PowerBug {
  readonly edits: readonly Edit[];
  /** When the power fails, in a run with one file. */
  at(trace: Trace): Point;
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
    // The service has made the record, and only the intent is written down.
    at: ({ calls }) => ({
      action: 'before',
      at: 1 + calls.findIndex((call) => /^write .*receipts\.jsonl$/.test(call)),
    }),
    caughtBy: 'every empty record is in use or listed',
  },
  'neither the ledger nor the receipts are synced, and the power fails': {
    edits: [...unsyncedLedger, ...unsyncedReceipts],
    // The service has everything.
    at: ({ calls }) => ({ action: 'after', at: 1 + calls.lastIndexOf('recv tcp') }),
    caughtBy: 'no content is a video twice',
  },
} satisfies Record<string, PowerBug>;
