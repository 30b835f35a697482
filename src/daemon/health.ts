import type { Conductor } from '../pipeline/conductor.ts';
import type { Folders } from '../intake/folders.ts';

/** `waiting`: everything waits. `frozen`: the files of some folders do. */
export type Health = 'ok' | 'waiting' | 'frozen';

/** In one word, for monitoring. A folder without events is scanned instead: its files are found, so all is well. */
export function healthOf(daemon: {
  readonly conductor: Pick<Conductor, 'pause'>;
  readonly folders: Pick<Folders, 'frozen'>;
}): Health {
  if (daemon.conductor.pause() !== null) return 'waiting';
  return daemon.folders.frozen() > 0 ? 'frozen' : 'ok';
}
