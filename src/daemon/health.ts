import type { Conductor } from '../pipeline/conductor.ts';
import type { OperatorPauses } from '../pipeline/operator-pauses.ts';
import type { Folders } from '../intake/folders.ts';

/** `waiting`: everything waits. `frozen`: the files of some folders do. `paused`: a person wants nothing, or nothing of some folders, to begin. */
export type Health = 'ok' | 'waiting' | 'frozen' | 'paused';

/** In one word, for monitoring. A folder without events is scanned instead: its files are found, so all is well. */
export function healthOf(daemon: {
  readonly conductor: Pick<Conductor, 'pause'> & { readonly pauses: Pick<OperatorPauses, 'list'> };
  readonly folders: Pick<Folders, 'frozen'>;
}): Health {
  if (daemon.conductor.pause() !== null) return 'waiting';
  if (daemon.folders.frozen() > 0) return 'frozen';
  return daemon.conductor.pauses.list().length > 0 ? 'paused' : 'ok';
}
