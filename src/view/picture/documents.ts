import type { FolderStatus } from '../../intake/folder-status.ts';
import { whyWords, type Wait, type WaitCause } from '../waits.ts';
import type { BudgetView, LivePicture, Picture } from './picture.ts';

const inStatus = [
  ...(['daemon', 'config', 'fleet', 'counts', 'settling', 'waits', 'paused', 'waiting', 'unknown'] as const),
  ...(['outlook', 'uploads', 'folders', 'expectations', 'deaf_targets', 'accounts', 'working'] as const),
  ...(['suspects', 'adoption', 'deletions', 'creates_wait_until'] as const),
] as const;

/** The document of `dropcast status --json` and `/status.json`. */
export interface StatusView extends Pick<Picture, (typeof inStatus)[number]> {
  readonly v: 1;
  readonly requests: Omit<BudgetView, 'frees'> | null;
  readonly needs_you: Picture['needing'];
  readonly causes: Picture['needs_you'];
}

/** Projects a picture to the status document. Pure. */
export function statusView(picture: Picture): StatusView {
  const { budget, needing, needs_you: causes } = picture;
  const { frees: _, ...requests } = budget ?? { frees: [] };
  return {
    v: 1,
    ...pick(picture, inStatus),
    requests: budget === null ? null : (requests as Omit<BudgetView, 'frees'>),
    needs_you: needing,
    causes,
  };
}

const inOverview = [
  ...(['at', 'sentence', 'stages', 'retrying', 'outlook', 'needs_you', 'now', 'budget', 'day', 'feeds'] as const),
  ...(['waits', 'expectations', 'deaf_targets', 'fleet'] as const),
] as const;

/** The document of `dropcast top --json`. */
export interface OverviewView extends Pick<LivePicture, (typeof inOverview)[number]> {
  readonly v: 1;
  readonly started_at: number;
  /** Folders that are frozen or still being scanned. */
  readonly folders: readonly Pick<FolderStatus, 'path' | 'state' | 'why'>[];
  /** `why` includes the end time. */
  readonly pauses: readonly Pick<Wait, 'what' | 'why' | 'since' | 'until'>[];
}

/** Projects a picture to the overview document. Pure. */
export function overviewView(picture: LivePicture): OverviewView {
  const { at, daemon, waits } = picture;
  return {
    v: 1,
    ...pick(picture, inOverview),
    started_at: daemon.started_at,
    folders: picture.folders
      .filter(({ state }) => state === 'frozen' || state === 'scanning')
      .map(({ path, state, why }) => ({ path, state, why })),
    pauses: waits
      .filter(({ cause }) => listedAsPause.has(cause))
      .map((wait) => ({ what: wait.what, why: whyWords(wait, at), since: wait.since, until: wait.until })),
  };
}

/** Causes listed in the document's `pauses`; `waits` has all of them. */
const listedAsPause: ReadonlySet<WaitCause> = new Set<WaitCause>([
  ...(['key', 'account', 'quota', 'storage', 'channel', 'service', 'upload host', 'machine'] as const),
  ...(['paused', 'unanswered creates', 'upload window'] as const),
]);

function pick<T, Key extends keyof T>(from: T, keys: readonly Key[]): Pick<T, Key> {
  return Object.fromEntries(keys.map((key) => [key, from[key]])) as unknown as Pick<T, Key>;
}
