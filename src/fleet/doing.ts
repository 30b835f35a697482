import type { Config } from '../config/config.ts';
import type { Contents } from './contents.ts';
import type { ConfiguredFolder } from './found-places.ts';
import type { Doing, HostRounds } from '../view/hosts/fleet-view.ts';
import type { Turn } from '../pipeline/file/ports.ts';
import type { MessageTargets } from '../daemon/message-targets.ts';
import type { Conductor } from '../pipeline/conductor.ts';
import type { Rows } from '../pipeline/file/rows.ts';
import { sightToTell } from '../view/hosts/sights.ts';

export interface FleetConfig {
  readonly folders: readonly ConfiguredFolder[];
  readonly uploads: Pick<Config['uploads'], 'concurrency'>;
}

/** More than any host works on at once. */
const mostTold = 200;

interface Here extends RoundsHere, Pick<Parameters<typeof sightToTell>[0], 'folders' | 'expectations'> {
  readonly rows: Pick<Rows, 'held'>;
  readonly conductor: RoundsHere['conductor'] & Pick<Conductor, 'uploads' | 'pause' | 'names'>;
  readonly turn: Pick<Turn, 'signal'>;
  readonly contents: Pick<Contents, 'words'> | null;
}

interface RoundsHere {
  readonly conductor: Pick<Conductor, 'feedsWaiting' | 'pollTrouble' | 'nextPollAt' | 'comparison' | 'pace'>;
  readonly messageTargets: Pick<MessageTargets, 'deaf'>;
}

/** Pure: what this host tells the others of itself. @param placeOf the name of a folder in rows */
export function doingOf(here: Here, { uploads, folders }: FleetConfig, placeOf: (folder: string) => string): Doing {
  const { rows, conductor, turn, messageTargets, contents } = here;
  const live = new Map(conductor.uploads().map((upload) => [upload.id, upload]));
  return {
    slots: uploads.concurrency,
    ...(contents !== null && { contents: contents.words() }),
    ...(turn.signal() !== null && { rounds: roundsOf({ conductor, messageTargets }) }),
    places: folders.map(({ path }) => placeOf(path)),
    sees: sightToTell(here, placeOf),
    work: rows
      .held()
      .slice(0, mostTold)
      .map((id) => {
        const upload = live.get(id);
        if (upload === undefined) return { id, upload: null };
        const { sentBytes, sizeBytes, idleMs, bytesPerSecond } = upload;
        return { id, upload: { sentBytes, sizeBytes, idleMs: Math.round(idleMs), bytesPerSecond } };
      }),
  };
}

/** Pure: what this host knows because it does what only one may do. */
export function roundsOf({ conductor, messageTargets }: RoundsHere): HostRounds {
  const { processingMs, latePoll } = conductor.pace();
  return {
    feeds: conductor.feedsWaiting(),
    pollTrouble: conductor.pollTrouble(),
    nextPollAt: conductor.nextPollAt(),
    comparison: conductor.comparison(),
    processingMs,
    latePoll,
    deaf: messageTargets.deaf(),
  };
}
