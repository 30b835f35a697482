import { stepStates } from '../pipeline/file/selection.ts';
import type { FacetCount, FileCount, FileFacets, FileSelection } from '../pipeline/file/selection.ts';

/** Limit on values listed for one property, because a rule may give every file its own channel. */
const mostValues = 200;

/**
 * Counts the values of each property separately, from groups of files that are alike.
 *
 * @param working groups of files that a step is working on; `all` includes these files with the states of their rows
 */
export function facetsOf(
  selection: FileSelection,
  all: readonly FileCount[],
  working: readonly FileCount[],
): FileFacets {
  const groups = [...all.map(withFeeds), ...working.flatMap(asShown)];
  const tests = testsOf(selection);
  const counted = (property: keyof typeof tests | null, valuesOf: (group: Group) => readonly (string | null)[]) => {
    const others = Object.entries(tests).filter(([name]) => name !== property);
    const counts = new Map<string, number>();
    for (const group of groups) {
      if (!others.every(([, isMeant]) => isMeant(group))) continue;
      for (const value of valuesOf(group))
        if (value !== null) counts.set(value, (counts.get(value) ?? 0) + group.files);
    }
    return mostFirst(counts);
  };
  return {
    total: counted(null, () => ['all'])[0]?.files ?? 0,
    states: counted('state', ({ state }) => [state]),
    stages: counted('state', ({ stage }) => [stage]),
    folders: counted('folder', ({ folder }) => [folder]),
    channels: counted('channel', ({ channel }) => [channel]),
    feeds: counted('feed', ({ feedList }) => feedList),
    causes: counted('cause', ({ cause }) => [cause]),
  };
}

interface Group extends FileCount {
  readonly feedList: readonly string[];
}

function testsOf({ states, stages, folder, channel, feed, cause }: FileSelection) {
  return {
    state: ({ state, stage }: Group) => (states?.includes(state) ?? true) && (stages?.includes(stage) ?? true),
    folder: (group: Group) => folder === undefined || folder === group.folder,
    channel: (group: Group) => channel === undefined || channel === group.channel,
    feed: (group: Group) => feed === undefined || group.feedList.includes(feed),
    cause: (group: Group) => cause === undefined || cause === group.cause,
  };
}

function withFeeds(group: FileCount): Group {
  return { ...group, feedList: group.feeds === null ? [] : (JSON.parse(group.feeds) as string[]) };
}

/** Moves files that a step is working on from the state of their rows to the displayed state. */
function asShown(group: FileCount): readonly Group[] {
  const step = (stepStates as Readonly<Record<string, keyof typeof stageOfStep>>)[group.state];
  if (step === undefined) return [];
  return [withFeeds({ ...group, files: -group.files }), withFeeds({ ...group, state: step, stage: stageOfStep[step] })];
}

const stageOfStep = { creating: 'queued', uploading: 'uploading' } as const;

function mostFirst(counts: ReadonlyMap<string, number>): readonly FacetCount[] {
  return [...counts]
    .map(([value, files]) => ({ value, files }))
    .filter(({ files }) => files > 0)
    .sort((a, b) => b.files - a.files || (a.value < b.value ? -1 : 1))
    .slice(0, mostValues);
}
