import type { Facts } from '../../pipeline/file/facts.ts';
import { isTakenBack } from '../../pipeline/file/reasons.ts';
import type { FileSelection } from '../../pipeline/file/selection.ts';
import { handEdits } from '../../pipeline/rounds/hand-edits.ts';
import { feedsWith, mostPages } from '../../pipeline/rounds/take-back.ts';
import type { TakeBackProgress } from '../../pipeline/rounds/take-back.ts';
import { whyElsewhere } from '../../view/hosts/host-words.ts';
import { whenSentMs } from '../../view/outlook.ts';
import type { Daemon } from '../daemon.ts';
import { Answers, diskHangs, Patience, wantedFiles } from './wanted.ts';

export interface UndoWanted extends Pick<FileSelection, 'folder' | 'since'> {
  /** Key of the rule that took the files. */
  readonly rule?: string | undefined;
  /** Also reads the list of the service, to find out which videos were edited. */
  readonly check?: boolean | undefined;
  /** How many videos the operator agrees to delete; absent: only list them. */
  readonly yes?: number | undefined;
  readonly by: string;
}

export type UndoResult = Awaited<ReturnType<typeof undo>>;

/** GET, DELETE, GET until the answer is 404, and a request that shows that the service answers others. */
const requestsPerVideo = 4;
/** Limit of one run, whose note is written whole. */
const mostFiles = 10_000;
const mostShown = 1_000;
/** The client of the socket gives up after 30 s. */
const checkMs = 20_000;

const underWay = ['queued', 'awaiting upload', 'retrying', 'processing', 'awaiting publish'];
const withVideo = ['done', 'failed', 'held', 'superseded'];

/** Lists what would be taken back; takes it back if the operator agreed to that number. */
export async function undo(daemon: Daemon, wanted: UndoWanted) {
  const [refused, kept, patience] = [new Answers(), new Answers(), new Patience()];
  const { folder, since, yes } = wanted;
  const found: Facts[] = [];
  const selection = { folder, since, states: [...underWay, ...withVideo] };
  for await (const file of wantedFiles(daemon, { names: [], selection }, refused.refuse)) {
    const why = isMeant(file.facts, wanted) ? await whyNot(daemon, file.facts, patience) : undefined;
    if (why === null) found.push(file.facts);
    else if (why !== undefined) refused.leave(file, why);
  }
  const { cost: check, files: unsorted } = await withoutEdited(daemon, found, { kept, isAsked: wanted.check === true });
  const files = unsorted.toSorted((one, other) => (one.createdAt ?? 0) - (other.createdAt ?? 0));
  const why = yes === undefined ? null : await begin(daemon, files, { yes, by: wanted.by });
  const feeds = [...new Set(files.flatMap((facts) => [...feedsWith(facts)]))];
  const requests = files.length * requestsPerVideo + feeds.length;
  return {
    v: 1,
    /** True: nothing is taken back. */
    planned: yes === undefined || why !== null,
    files: files.length,
    /** The first of them, oldest first. */
    videos: files.slice(0, mostShown).map(({ id, folder: of, path, videoId, plan }) => {
      return { id, path: `${of}/${path}`, video_id: videoId ?? '', title: plan?.title ?? '' };
    }),
    /** Videos that stay because they were edited on the service, and uploads that cannot be taken back. */
    kept: kept.left,
    left: refused.left,
    requests,
    /** How long the hourly budget takes to admit them, in milliseconds. */
    budget_ms: Math.round(whenSentMs(daemon, requests)),
    feeds,
    check,
    /** Why nothing is taken back although the operator agreed, or null. */
    why,
  };
}

/** Whether the operator means this upload. A file without a video that is not on its way was never uploaded. */
function isMeant(facts: Facts, { rule, since = 0 }: UndoWanted): boolean {
  const { plan, videoId, createdAt, discoveredAt, end, lastFailure } = facts;
  const isSelected = plan !== null && plan.rule === (rule ?? plan.rule) && (createdAt ?? discoveredAt) >= since;
  return isSelected && (end === null || videoId !== null) && !isTakenBack(facts) && lastFailure?.kind !== 'gone';
}

async function whyNot(daemon: Daemon, facts: Facts, patience: Patience): Promise<string | null> {
  const elsewhere = whyElsewhere(daemon, facts.folder);
  if (elsewhere !== null) return elsewhere;
  const look = async () => ({ why: await daemon.conductor.takeBack.whyNot(facts) });
  const answer = await patience.forDisk(facts.folder, look);
  return answer === null ? diskHangs : answer.why;
}

/** @returns the files whose video is unedited as far as the list shows, and what reading the list costs */
async function withoutEdited(
  { conductor }: Daemon,
  files: readonly Facts[],
  { kept, isAsked }: { readonly kept: Answers; readonly isAsked: boolean },
) {
  const cost = { requests: files.length === 0 ? 0 : mostPages(files.length), unseen: files.length, why: null };
  if (!isAsked || files.length === 0) return { files, cost };
  const ids = files.flatMap(({ videoId }) => videoId ?? []);
  const { found, requests, failure } = await conductor.takeBack.look(ids, AbortSignal.timeout(checkMs));
  const listed = new Map(found.map((video) => [video.id, video]));
  const unedited = files.filter((facts) => {
    const edits = handEdits(facts, listed.get(facts.videoId ?? '') ?? {});
    if (edits.length > 0) kept.leave({ facts, name: null }, `edited: ${edits.join(', ')}`);
    return edits.length === 0;
  });
  return {
    files: unedited,
    /** `requests`: at most; `unseen`: videos that the list did not have; `why`: why it cannot be read. */
    cost: { requests, unseen: files.length - listed.size, why: failure?.message ?? null },
  };
}

/** @returns why nothing is taken back, or null */
async function begin(
  { conductor }: Daemon,
  files: readonly Facts[],
  { yes, by }: { readonly yes: number; readonly by: string },
): Promise<string | null> {
  if (yes !== files.length) return `${files.length} would be taken back now, not ${yes}: nothing was changed`;
  if (yes > mostFiles) return `one run takes back at most ${mostFiles}: select fewer by --folder or --since`;
  const isBegun = await conductor.takeBack.start(
    files.map(({ id, videoId }) => [id, videoId ?? ''] as const),
    by,
  );
  return isBegun ? null : 'another run is not over: `dropcast undo` shows it';
}

/** The last run of this host. */
export interface UndoView {
  readonly v: 1;
  readonly run: TakeBackProgress | null;
}

/** @param stoppedBy the user who stops the run; absent: it continues. A video whose deletion has begun is still deleted. */
export async function undoOf({ conductor }: Pick<Daemon, 'conductor'>, stoppedBy?: string): Promise<UndoView> {
  if (stoppedBy !== undefined) await conductor.takeBack.stop(stoppedBy);
  return { v: 1, run: await conductor.takeBack.progress() };
}
