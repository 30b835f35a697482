import type { Config } from '../config/config.ts';
import type { FeedLinks } from '../host/feed-links.ts';
import type { Gate } from '../host/gate.ts';
import type { Folders } from '../intake/folders.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Conductor } from '../pipeline/conductor.ts';
import type { OperatorPauses } from '../pipeline/operator-pauses.ts';
import type { ExpectationView } from '../pipeline/expectation.ts';
import type { Rows } from '../pipeline/file/rows.ts';
import type { UploadHours } from '../pipeline/sending-time.ts';
import type { DeafTarget, FleetView } from './hosts/fleet-view.ts';
import type { Wait } from './waits.ts';

/** The parts of the running daemon that views show. */
export interface ViewedDaemon {
  readonly startedAt: number;
  readonly ledger: Ledger;
  readonly conductor: Conductor;
  readonly gate: Pick<Gate, 'snapshot'>;
  /** Upload limits that depend on the time of day. Times are epoch milliseconds. */
  readonly times: {
    /** Bytes per second shared by all uploads; null: unlimited. */
    limit(): number | null;
    /** When the next limit takes effect; null: never. */
    limitUntil(): number | null;
    mayStart(): boolean;
    /** When uploads may start again; null: now. */
    startAt(): number | null;
    /** Limit changes within the next two days. */
    later(): readonly UploadHours[];
  };
  readonly feedLinks: Pick<FeedLinks, 'find'>;
  readonly folders: Pick<Folders, 'countSettling' | 'settling' | 'status'>;
  readonly pauses: OperatorPauses;
  readonly rows: Pick<Rows, 'isHeld' | 'held'>;
  readonly expectations: { list(): readonly ExpectationView[] };
  readonly messageTargets: { deaf(): readonly DeafTarget[] };
  /** Null: the ledger is not shared. */
  readonly fleet: FleetView | null;
  config(): Config;
  /** Everything that holds up work, most far-reaching first. */
  waits(): readonly Wait[];
}

/** The daemon at one moment: running steps and waits are read once, so that all views agree. */
export interface Moment {
  readonly daemon: ViewedDaemon;
  /** Ids of the files that steps are working on. */
  readonly held: readonly string[];
  readonly waits: readonly Wait[];
}

/** @param held if known already, the files that steps are working on */
export function momentOf(daemon: ViewedDaemon, held = daemon.rows.held()): Moment {
  return { daemon, held, waits: daemon.waits() };
}
