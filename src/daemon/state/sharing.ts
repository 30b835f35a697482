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
 * What changes when other hosts share the ledger: nothing on a single host (`alone`); the fleet with `ledger:
 * postgres://…` (`src/fleet`).
 */
export interface Sharing extends Turn {
  /** Whether this host may start work: it is not drained, and its name is unique. */
  mayTake(): boolean;
  /**
   * Returns why this host can read no file in a folder, for example one on another host. Null: it can, if the folder is
   * there.
   */
  whyNotHere(folder: string): string | null;
  /** @returns null: no other host works on the rows */
  elsewhere(reader: Reader): Elsewhere | null;
  /**
   * Starts following the other hosts. They cannot see this one until `Shared.start` is called.
   *
   * @throws {LedgerUnavailableError}
   */
  join(parts: SharedParts): Promise<Shared>;
}

/** Lets another host get the hash of a file on this one. */
export interface Reader {
  readonly load: Ledger['load'];
  readonly hash: LocalFiles['hash'];
}

/** What views read: `Shared` includes the work of all hosts, `SharedParts` only this one's. */
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
  /** Null: the ledger is not shared. */
  readonly fleet: Fleet | null;
  /** Whether this host reports a folder's expectations. If several hosts watch it, exactly one does. */
  reports(folder: string): boolean;
  /** Starts publishing this host's work to the others. */
  start(expectations: Pick<Expectations, 'list'>): void;
}

/** The implementation for a single host. */
export const alone: Sharing = {
  ...alwaysOurs,
  mayTake: () => true,
  whyNotHere: () => null,
  elsewhere: () => null,
  join: async (parts) => ({
    ...parts,
    fleet: null,
    reports: () => true,
    start: () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  }),
};
