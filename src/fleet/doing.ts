import type { Shown } from '../daemon/state/sharing.ts';
import type { Contents } from './contents.ts';
import type { ConfiguredFolder } from './found-places.ts';
import type { Doing, HostRounds, FleetView, HostWork } from '../view/hosts/fleet-view.ts';
import type { Turn } from '../pipeline/file/ports.ts';
import type { MessageTargets } from '../daemon/message-targets.ts';
import type { Conductor } from '../pipeline/conductor.ts';
import type { Rows } from '../pipeline/file/rows.ts';
import { sightToTell } from '../view/hosts/sights.ts';
import type { LiveUpload } from '../pipeline/steps/uploads.ts';
import { othersAtWork } from '../view/hosts/host-view.ts';

export interface FleetConfig {
  readonly folders: readonly ConfiguredFolder[];
}

/** Limit on reported files, more than any host works on at the same time. */
const mostTold = 200;

interface Here extends RoundsHere, Pick<Parameters<typeof sightToTell>[0], 'folders' | 'expectations'> {
  readonly rows: Pick<Rows, 'held'>;
  readonly conductor: RoundsHere['conductor'] & Pick<Conductor, 'uploads' | 'pause' | 'createsPauses' | 'names'>;
  readonly turn: Pick<Turn, 'signal'>;
  readonly contents: Pick<Contents, 'words'> | null;
}

interface RoundsHere {
  readonly conductor: Pick<Conductor, 'feedsWaiting' | 'pollTrouble' | 'nextPollAt' | 'comparison' | 'pace'>;
  readonly messageTargets: Pick<MessageTargets, 'deaf'>;
}

/**
 * Returns this host's report to the other hosts. Pure.
 *
 * @param placeOf returns a folder's name in rows
 */
export function doingOf(here: Here, { folders }: FleetConfig, placeOf: (folder: string) => string): Doing {
  const { rows, conductor, turn, messageTargets, contents } = here;
  const live = new Map(conductor.uploads().map((upload) => [upload.id, upload]));
  return {
    slots: conductor.pace().slots,
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

/** Returns what this host knows because it has the turn. Pure. */
function roundsOf({ conductor, messageTargets }: RoundsHere): HostRounds {
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

interface Own extends Omit<Shown, 'ledger'> {
  readonly turn: Turn;
}

/**
 * Adds the other hosts' work in progress for views, which count rows of all hosts. Another host's last report counts as
 * its current work.
 */
export function ofAllHosts<T extends Own>(here: T, fleet: FleetView): T {
  const { rows, conductor, messageTargets } = here;
  const elsewhere = (): readonly HostWork[] => othersAtWork(fleet).flatMap(({ doing }) => doing.work);
  const uploadsElsewhere = (): readonly LiveUpload[] =>
    othersAtWork(fleet).flatMap(({ name: host, doing }) =>
      doing.work.flatMap(({ id, upload }) => (upload === null ? [] : { id, host, ...upload })),
    );
  const rounds = (): HostRounds => roundsOfFleet(here, fleet);
  return {
    ...here,
    rows: {
      ...rows,
      isHeld: (id) => rows.isHeld(id) || elsewhere().some((work) => work.id === id),
      held: () => [...new Set([...rows.held(), ...elsewhere().map(({ id }) => id)])],
    },
    conductor: {
      ...conductor,
      uploads: () => withoutTwins([...conductor.uploads(), ...uploadsElsewhere()]),
      pace: () => {
        const { bytesPerSecond, slots } = conductor.pace();
        const speeds = [bytesPerSecond, ...uploadsElsewhere().map((upload) => upload.bytesPerSecond)];
        const known = speeds.flatMap((speed) => speed ?? []);
        const { processingMs, latePoll } = rounds();
        return {
          processingMs,
          latePoll,
          slots,
          bytesPerSecond: known.length === 0 ? null : known.reduce((sum, speed) => sum + speed, 0),
        };
      },
      feedsWaiting: () => rounds().feeds,
      pollTrouble: () => rounds().pollTrouble,
      nextPollAt: () => rounds().nextPollAt,
      comparison: () => rounds().comparison,
    },
    messageTargets: { ...messageTargets, deaf: () => rounds().deaf },
  };
}

/** Returns the rounds as reported by the host with the turn. Knowledge from an earlier turn is out of date. */
function roundsOfFleet(here: Own, fleet: FleetView): HostRounds {
  const known = roundsOf(here);
  if (here.turn.signal() !== null) return known;
  const told = othersAtWork(fleet).flatMap(({ doing }) => doing.rounds ?? [])[0];
  return (
    told ?? { ...known, feeds: [], pollTrouble: null, nextPollAt: null, comparison: null, latePoll: null, deaf: [] }
  );
}

/** Keeps one upload per file. A file that was just taken over is in two hosts' rows; the first one counts. */
function withoutTwins(uploads: readonly LiveUpload[]): readonly LiveUpload[] {
  return [...new Map(uploads.toReversed().map((upload) => [upload.id, upload])).values()].toReversed();
}
