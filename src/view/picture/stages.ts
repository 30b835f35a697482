import type { LedgerSnapshot } from '../../ledger/snapshot.ts';
import type { Limit } from '../../pipeline/estimate.ts';
import { stateOf, type Facts } from '../../pipeline/file/facts.ts';
import { stageWord, statesIn, shownState } from '../stages.ts';
import type { OutlookView } from '../outlook.ts';
import type { NowFile, Picture, StageName, StageView } from './picture.ts';
import type { FileView } from '../files/file-view.ts';

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
  return stages.map(({ name, enters, since = [] }) => {
    const states = statesIn[stageWord(name)];
    const times = since.flatMap(([state, time]) => oldest[state]?.[time] ?? []);
    const files =
      name === 'settling' ? world.settling : states.reduce((sum, state) => sum + (world.counts[state] ?? 0), 0);
    return {
      name,
      states,
      files,
      retrying: name === 'settling' || name === 'live' ? 0 : world.retrying[name],
      last_hour: enters.reduce((sum, state) => sum + world.passed(state), 0),
      oldest_since: files === 0 || times.length === 0 ? null : Math.min(...times),
      // An empty stage is no bottleneck: files waiting for something else, such as a channel, do not count.
      bottleneck: name === narrow && files > 0 ? world.outlook.why : null,
    };
  });
}

interface StageOfLife {
  readonly name: StageName;
  /** States entered by files leaving this stage; for `live`, by files arriving. */
  readonly enters: readonly string[];
  /** When a file in each of these states entered the stage. */
  readonly since?: readonly (readonly [
    state: string,
    time: 'discoveredAt' | 'uploadStartedAt' | 'uploadedAt' | 'readyAt',
  ])[];
}

const stages: readonly StageOfLife[] = [
  { name: 'settling', enters: ['queued'] },
  {
    name: 'queued',
    enters: ['awaiting upload'],
    since: [
      ['queued', 'discoveredAt'],
      ['creating', 'discoveredAt'],
      ['awaiting upload', 'discoveredAt'],
    ],
  },
  { name: 'uploading', enters: ['processing'], since: [['uploading', 'uploadStartedAt']] },
  { name: 'processing', enters: ['awaiting publish'], since: [['processing', 'uploadedAt']] },
  { name: 'publishing', enters: ['done'], since: [['awaiting publish', 'readyAt']] },
  { name: 'live', enters: ['done'] },
];

/** The earliest-arrived file in each displayed state. */
type Oldest = Readonly<Record<string, Facts | undefined>>;

function oldestOf({ working, held }: Pick<StageWorld, 'working' | 'held'>): Oldest {
  const oldest: Record<string, Facts | undefined> = {};
  for (const facts of working) oldest[shownState(facts, held.includes(facts.id))] ??= facts;
  return oldest;
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

/** Maximum number of files shown; any others are only counted. */
const mostShown = 12;

/** Files in line are not shown as work in progress; their stage counts them. */
const inLine: ReadonlySet<string> = new Set(['queued', 'awaiting upload']);

/** Returns files that a step is working on, then the first files on the service, each in order of arrival. Pure. */
export function underWay({ working, held }: Pick<LedgerSnapshot, 'working' | 'held'>): readonly Facts[] {
  const isHeld = new Set(held);
  const steps = working.filter(({ id }) => isHeld.has(id)).slice(0, mostShown);
  const others = working.filter((facts) => !isHeld.has(facts.id) && !inLine.has(stateOf(facts)));
  const shown = new Set([...steps, ...others.slice(0, mostShown - steps.length)]);
  return working.filter((facts) => shown.has(facts));
}

/** Builds the view of a file in progress. Pure. @param nextPollAt time of the next poll, epoch milliseconds */
export function nowFile(file: FileView, nextPollAt: number | null): NowFile {
  const { id, host, path, state, stage, size, sent, ready_at, why, upload } = file;
  const shown = { id, host, path, state, stage, size, sent, ready_at, why };
  return {
    ...shown,
    kind: kindOf(file),
    bytes_per_second: upload?.bytes_per_second ?? null,
    sent_at: upload?.done_at ?? null,
    next_look_at: state === 'processing' ? nextPollAt : state === 'retrying' ? file.not_before : null,
  };
}

const kinds: readonly (readonly [NowFile['kind'], RegExp])[] = [
  ['link', /\.(?:url|webloc)$/i],
  ['audio', /\.(?:mp3|m4a|wav|flac|aac|ogg|opus)$/i],
  ['video', /\.(?:mp4|mov|mkv|mxf|ts|webm|avi|mpg|m4v)$/i],
];

/** Returns what kind of file it is, for its icon. Pure. */
export function kindOf({ path, source_url: source }: Pick<FileView, 'path' | 'source_url'>): NowFile['kind'] {
  return source === null ? (kinds.find(([, names]) => names.test(path))?.[0] ?? 'file') : 'link';
}

/** Returns the number of files in progress that are not shown. */
export function moreUnderWay(counts: Readonly<Record<string, number>>, shown: number): Picture['now']['more'] {
  const states = ['creating', 'uploading', 'processing', 'awaiting publish', 'retrying'];
  return Math.max(0, states.reduce((sum, state) => sum + (counts[state] ?? 0), 0) - shown);
}
