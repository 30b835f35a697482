import type { LedgerSnapshot } from '../../ledger/snapshot.ts';
import type { Limit } from '../../pipeline/estimate.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { stageWord, statesIn } from '../stages.ts';
import { shownState } from '../files/known-states.ts';
import type { OutlookView, StageName, StageView } from './picture.ts';

/** The facts that the stages are computed from. */
interface StageWorld {
  readonly settling: number;
  /** Number of files by displayed state. */
  readonly counts: Readonly<Record<string, number>>;
  /** The first files in each state, in order of arrival. */
  readonly working: readonly Facts[];
  readonly held: readonly string[];
  /** Files waiting for a retry, by the stage they will resume. */
  readonly retrying: LedgerSnapshot['retrying'];
  /** Returns how many files entered a state within the last hour. */
  readonly passed: (state: string) => number;
  readonly outlook: OutlookView;
}

/** Counts files by stage and marks the bottleneck. Pure. */
export function stagesOf(world: StageWorld): readonly StageView[] {
  const narrow = bottleneckOf(world);
  const oldest = oldestOf(world);
  return stages.map(({ name, enters, since }) => {
    const states = statesIn[stageWord(name)];
    const files =
      name === 'settling' ? world.settling : states.reduce((sum, state) => sum + (world.counts[state] ?? 0), 0);
    return {
      name,
      states,
      files,
      retrying: name === 'settling' || name === 'live' ? 0 : world.retrying[name],
      last_hour: enters.reduce((sum, state) => sum + world.passed(state), 0),
      oldest_since: files === 0 ? null : (since?.(oldest) ?? null),
      // An empty stage is no bottleneck: files waiting for something else, such as a channel, do not count.
      bottleneck: name === narrow && files > 0 ? world.outlook.why : null,
    };
  });
}

interface StageOfLife {
  readonly name: StageName;
  /** States entered by files leaving this stage; for `live`, by files arriving. */
  readonly enters: readonly string[];
  readonly since?: (oldest: Oldest) => number | null;
}

const stages: readonly StageOfLife[] = [
  { name: 'settling', enters: ['queued'] },
  {
    name: 'queued',
    enters: ['awaiting upload'],
    since: (oldest) =>
      earliest([oldest['queued'], oldest['creating'], oldest['awaiting upload']], ({ discoveredAt }) => discoveredAt),
  },
  {
    name: 'uploading',
    enters: ['processing'],
    since: (oldest) => earliest([oldest['uploading']], ({ uploadStartedAt }) => uploadStartedAt),
  },
  {
    name: 'processing',
    enters: ['awaiting publish'],
    since: (oldest) => earliest([oldest['processing']], ({ uploadedAt }) => uploadedAt),
  },
  {
    name: 'publishing',
    enters: ['done'],
    since: (oldest) => earliest([oldest['awaiting publish']], ({ readyAt }) => readyAt),
  },
  { name: 'live', enters: ['done'] },
];

/** The earliest-arrived file in each displayed state. */
type Oldest = Readonly<Record<string, Facts | undefined>>;

function oldestOf({ working, held }: Pick<StageWorld, 'working' | 'held'>): Oldest {
  const oldest: Record<string, Facts | undefined> = {};
  for (const facts of working) oldest[shownState(facts, held.includes(facts.id))] ??= facts;
  return oldest;
}

function earliest(files: readonly (Facts | undefined)[], at: (facts: Facts) => number | null): number | null {
  const times = files.flatMap((facts) => (facts === undefined ? [] : (at(facts) ?? [])));
  return times.length === 0 ? null : Math.min(...times);
}

/**
 * Returns the stage that holds most of the backlog. If requests are short, it is the first stage with files that need
 * one.
 */
function bottleneckOf({ counts, outlook: { limited_by: limitedBy } }: StageWorld): StageName | null {
  if (limitedBy !== 'request budget') return places[limitedBy];
  if ((counts['queued'] ?? 0) + (counts['creating'] ?? 0) > 0) return 'queued';
  return (counts['processing'] ?? 0) > 0 ? 'processing' : 'publishing';
}

const places: Readonly<Record<Exclude<Limit, 'request budget'>, StageName | null>> = {
  'upload bandwidth': 'uploading',
  'upload slots': 'uploading',
  'upload window': 'queued',
  quota: 'queued',
  'processing at the service': 'processing',
  'publish quiet': 'publishing',
  // The headline sentence already reports the pause.
  pause: null,
  nothing: null,
};
