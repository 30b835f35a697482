import type { FleetView, HostRounds, HostWork } from '../view/hosts/fleet-view.ts';
import type { Conductor } from '../pipeline/conductor.ts';
import type { Rows } from '../pipeline/file/rows.ts';
import type { Turn } from '../pipeline/file/ports.ts';
import type { LiveUpload } from '../pipeline/steps/uploads.ts';
import type { MessageTargets } from '../daemon/message-targets.ts';
import { roundsOf } from './doing.ts';
import { othersAtWork } from '../view/hosts/host-view.ts';

interface Here {
  readonly rows: Rows;
  readonly conductor: Conductor;
  readonly turn: Turn;
  readonly messageTargets: MessageTargets;
}

/**
 * What views ask about the work under way, for all hosts: the rows that they count are those of all of them too. What other hosts told
 * last stands for what they do now.
 */
export function ofAllHosts<T extends Here>(here: T, fleet: FleetView): T {
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
        const { bytesPerSecond } = conductor.pace();
        const speeds = [bytesPerSecond, ...uploadsElsewhere().map((upload) => upload.bytesPerSecond)];
        const known = speeds.flatMap((speed) => speed ?? []);
        const { processingMs, latePoll } = rounds();
        return {
          processingMs,
          latePoll,
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

/** Of the host whose turn it is. What this one knew when it last had the turn is out of date. */
function roundsOfFleet(here: Here, fleet: FleetView): HostRounds {
  const known = roundsOf(here);
  if (here.turn.signal() !== null) return known;
  const told = othersAtWork(fleet).flatMap(({ doing }) => doing.rounds ?? [])[0];
  return (
    told ?? { ...known, feeds: [], pollTrouble: null, nextPollAt: null, comparison: null, latePoll: null, deaf: [] }
  );
}

/** A file that was taken over a moment ago is in the rows of two hosts: the first counts. */
function withoutTwins(uploads: readonly LiveUpload[]): readonly LiveUpload[] {
  return [...new Map(uploads.toReversed().map((upload) => [upload.id, upload])).values()].toReversed();
}
