import type { Gate } from '../../host/gate.ts';
import type { Folders } from '../../intake/folders.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Conductor } from '../../pipeline/conductor.ts';
import type { Elsewhere, LocalFiles } from '../../pipeline/file/ports.ts';
import type { Rows } from '../../pipeline/file/rows.ts';
import { alwaysOurs } from '../../pipeline/file/ports.ts';
import type { Turn } from '../../pipeline/file/ports.ts';
import type { Fleet } from '../../view/hosts/fleet-view.ts';
import type { EventStream } from '../events.ts';
import type { Expectations } from '../expectations/expectations.ts';
import type { MessageTargets } from '../message-targets.ts';
import type { NewsLines } from '../news/lines.ts';

/**
 * What other hosts change for this one: nothing on a single host (`alone`), the fleet with `ledger: postgres://…`
 * (`src/fleet`).
 */
export interface Sharing extends Turn {
  /** Whether this host may start work: it is not drained, and no other host has its name. */
  mayTake(): boolean;
  /**
   * Why no file of a folder can be read on this host, as in a folder of another one; null: it can be, if the folder is
   * there.
   */
  whyNotHere(folder: string): string | null;
  /** @returns null: no other host works on the rows */
  elsewhere(reader: Reader): Elsewhere | null;
  /**
   * Starts following the other hosts. They cannot see this one until `Shared.start` was called.
   *
   * @throws {LedgerUnavailableError}
   */
  join(parts: SharedParts): Promise<Shared>;
}

/** How another host gets the hash of a file of this one. */
export interface Reader {
  readonly load: Ledger['load'];
  readonly hash: LocalFiles['hash'];
}

/** What views ask: with the work of all hosts in `Shared`, of this one in `SharedParts`. */
export interface Shown {
  readonly ledger: Ledger;
  readonly rows: Rows;
  readonly conductor: Conductor;
  readonly messageTargets: MessageTargets;
}

export interface SharedParts extends Shown {
  readonly folders: Pick<Folders, 'findLostRows' | 'status'>;
  readonly gate: Pick<Gate, 'changedElsewhere'>;
  readonly events: EventStream;
  readonly news: Pick<NewsLines, 'add'>;
}

export interface Shared extends Shown, AsyncDisposable {
  /** Null: this host has its ledger for itself. */
  readonly fleet: Fleet | null;
  /** Whether this host reports what its folders expect: of a folder that several hosts watch, one of them does. */
  reports(folder: string): boolean;
  /** From now on the other hosts know what this one does. */
  start(expectations: Pick<Expectations, 'list'>): void;
}

/** A single host. */
export const alone: Sharing = {
  ...alwaysOurs,
  mayTake: () => true,
  whyNotHere: () => null,
  elsewhere: () => null,
  join: async ({ ledger, rows, conductor, messageTargets }) => ({
    ledger,
    rows,
    conductor,
    messageTargets,
    fleet: null,
    reports: () => true,
    start: () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  }),
};
