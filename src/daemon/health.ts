import type { FleetView } from '../fleet/fleet-view.ts';
import type { Conductor } from '../pipeline/conductor.ts';
import type { OperatorPauses } from '../pipeline/operator-pauses.ts';
import type { Folders } from '../intake/folders.ts';

/** `away`: the database of a fleet does not answer. `waiting`: everything waits. `frozen`: the files of some folders do. `paused`: a person wants nothing, or nothing of some folders, to begin. */
export type Health = 'ok' | 'away' | 'waiting' | 'frozen' | 'paused';

/** In one word, for monitoring. A folder without events is scanned instead: its files are found, so all is well. */
export function healthOf(daemon: {
  readonly fleet: Pick<FleetView, 'awaySince'> | null;
  readonly conductor: Pick<Conductor, 'pause'> & { readonly pauses: Pick<OperatorPauses, 'list'> };
  readonly folders: Pick<Folders, 'frozenFolders'>;
}): Health {
  if (daemon.fleet !== null && daemon.fleet.awaySince() !== null) return 'away';
  if (daemon.conductor.pause() !== null) return 'waiting';
  if (daemon.folders.frozenFolders().length > 0) return 'frozen';
  return daemon.conductor.pauses.list().length > 0 ? 'paused' : 'ok';
}
