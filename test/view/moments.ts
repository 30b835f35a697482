import type { OperatorPause, Pause } from '../../src/pipeline/events.ts';
import { waitsOf } from '../../src/view/waits.ts';
import type { Wait } from '../../src/view/waits.ts';
import { noon } from './picture/some-picture.ts';

const minute = 60_000;

/** What holds a daemon up at one moment; what is left out does not. */
export interface Moment {
  /** Why the database of its fleet does not answer. */
  readonly away?: string;
  readonly pause?: Partial<Pause>;
  /** Why the service refuses new videos. */
  readonly refused?: Partial<Pause>;
  readonly people?: readonly OperatorPause[];
  readonly createsUntil?: number;
  readonly startAt?: number;
  readonly blockedUntil?: number;
  readonly frozen?: readonly string[];
  readonly unknown?: readonly ('channel' | 'feed')[];
}

const offline: Pause = {
  kind: 'offline',
  holds: 'everything',
  why: 'https://video.example.com cannot be reached',
  code: 'ECONNREFUSED',
  since: noon - 8 * minute,
  probes: 1,
  nextProbeAt: noon + 5 * minute,
};

/** What only this host sees of a moment. */
export const sightAt = ({ pause, refused, unknown = [], frozen = [] }: Moment) => ({
  pause: pause === undefined ? null : { ...offline, ...pause },
  creates:
    refused === undefined ? [] : [{ ...offline, kind: 'suspended' as const, holds: 'new files' as const, ...refused }],
  unknown: unknown.map((kind) => ({ kind, name: `${kind}_x`, since: noon - 5 * minute })),
  folders: frozen.map((path) => ({ path, state: 'frozen' as const, why: 'nothing is mounted there' })),
});

/** The waits of a daemon at a moment. @param now epoch milliseconds */
export function waitsAt(moment: Moment, now = noon): readonly Wait[] {
  const { away, people = [], createsUntil = null, startAt = null, blockedUntil = 0 } = moment;
  const { pause, creates, unknown, folders } = sightAt(moment);
  const usage = {
    used: 9,
    limit: 1_000,
    waiting: 0,
    total: 9,
    frees: [],
    blockedMs: 0,
    reported: null,
    others: 0,
    blockedUntil,
  };
  return waitsOf(
    {
      conductor: {
        pause: () => pause,
        createsPauses: () => creates,
        createsWaitUntil: () => createsUntil,
        pauses: { list: () => people },
        names: { unknown: () => unknown },
      },
      gate: { snapshot: () => usage },
      times: { startAt: () => startAt },
      folders: { frozenFolders: () => folders },
      fleet: { whyAway: () => away ?? null, awaySince: () => (away === undefined ? null : noon - minute) },
    },
    now,
  );
}
