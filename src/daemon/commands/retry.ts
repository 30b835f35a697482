import type { Facts } from '../../pipeline/file/facts.ts';
import { mayHaveArrived, stateOf } from '../../pipeline/file/facts.ts';
import { stageOf } from '../../view/stages.ts';
import { isIgnored, saysNothingArrived, waitsForChannel } from '../../pipeline/file/reasons.ts';
import { retryRule } from '../../pipeline/file/retry-rules.ts';
import { isUnsure } from '../../pipeline/steps/delete-video.ts';
import type { Applied } from '../../pipeline/steps/runner.ts';
import type { Daemon } from '../daemon.ts';
import { heldWords, whyElsewhere } from '../../view/hosts/host-words.ts';
import { Answers, diskHangs, Patience, wantedFiles } from './wanted.ts';
import type { CommandOptions, WantedFile, WantedFiles } from './wanted.ts';

export type RetryResult = Awaited<ReturnType<typeof retry>>;

/** Which files to retry. */
export interface RetryWanted extends WantedFiles {
  /** Also retry files whose failure cannot have been fixed since. */
  readonly force?: boolean;
  /** Sends the files to this channel instead of their rule's. */
  readonly channel?: string;
}

/** Re-arms files that failed or are held, skipped or waiting, and probes the service immediately. */
export async function retry(daemon: Daemon, wanted: RetryWanted, { isPlanned = false }: CommandOptions = {}) {
  const answers = new Answers();
  const patience = new Patience();
  for await (const file of filesToRetry(daemon, wanted, answers)) {
    const { facts, name } = file;
    const why = whyNot(file, wanted);
    const refusal = why === null && !isPlanned ? await rearm(daemon, facts, { ...wanted, patience }) : null;
    if (why !== null) answers.leave(file, why);
    else if (refusal !== null) answers.refuse(name ?? facts.id, refusal);
    else answers.done.push(facts);
  }
  const { conductor } = daemon;
  const { done } = answers;
  const waited = (conductor.pause() ?? conductor.createsPauses()[0])?.why ?? null;
  if (!isPlanned) daemon.conductor.probeNow();
  return {
    ...answers.result(isPlanned),
    requests: requestsFor(daemon, done),
    retried: done.map(({ id }) => id),
    /** Why everything was paused, or null. The service is probed immediately. */
    waited,
    /** Rules whose channel was rejected, and where they are written (`file:line`). */
    mend: wanted.channel === undefined ? [] : mendOf(daemon, done),
  };
}

async function* filesToRetry(daemon: Daemon, wanted: RetryWanted, answers: Answers): AsyncGenerator<WantedFile> {
  yield* wantedFiles(daemon, wanted, answers.refuse);
  // Files waiting for their disk count as `retrying`: they too continue automatically.
  if (wanted.selection?.states?.includes('retrying') === true || wanted.selection?.stages !== undefined)
    for (const facts of await daemon.ledger.rows({ group: 'waiting for disk', limit: 100_000 }))
      yield { facts, name: null };
}

/**
 * Estimates the requests until the files are done: each file's own, one per feed, and polls shared by all videos. An
 * upper bound, except that each video that fails again needs one more request for the reason.
 */
function requestsFor(daemon: Daemon, files: readonly Facts[]): number {
  const sent = files.filter((facts) => !isLeftOnDisk(facts));
  if (sent.length === 0) return 0;
  const { processingMs } = daemon.conductor.pace();
  const { intervalMs } = daemon.config().poll;
  const polls = Math.ceil((processingMs ?? 0) / intervalMs) + 1;
  const feeds = new Set(sent.flatMap(({ plan }) => plan?.publish ?? []));
  return sent.reduce((sum, facts) => sum + requestsOf(facts), polls + feeds.size);
}

/** One request for the video's status or why it failed. */
const toFinish = 1;
const toCreate = 1;
/**
 * DELETE, then GET until the response is 404, then a GET of the list: a service that returns 404 for everything has
 * deleted nothing.
 */
const toDelete = 3;

function requestsOf(facts: Facts): number {
  const { videoId, lastFailure, remoteStatus, uploadedAt, end } = facts;
  const isGone = lastFailure?.kind === 'gone' || (lastFailure?.kind === 'unclear' && videoId === null);
  if (videoId === null || isGone) return toCreate + toFinish;
  // The first request looks up the file's video; a 404 is verified against the list.
  if (end === 'done') return 2 + toCreate + toFinish;
  const isEmpty = end !== null && uploadedAt === null && !mayHaveArrived(facts);
  if (remoteStatus === 'failed' || isEmpty) return (isUnsure(facts) ? 1 : 0) + toDelete + toCreate + toFinish;
  return uploadedAt === null || saysNothingArrived(facts) ? 1 + toFinish : toFinish;
}

function mendOf(daemon: Daemon, files: readonly Facts[]) {
  const { file, folders } = daemon.config();
  const plans = new Map(files.flatMap(({ plan }) => (plan === null ? [] : [[plan.rule, plan] as const])));
  return Array.from(plans.values(), ({ rule, channel }) => {
    const line = folders.flatMap(({ rules }) => rules).find(({ key }) => key === rule)?.line;
    return { rule, channel, at: line === undefined ? null : `${file}:${line}` };
  });
}

/** Returns why a file is not retried, or null. A retry of many files skips those that only a person can decide on. */
function whyNot({ facts, name }: WantedFile, { force = false, channel }: RetryWanted): string | null {
  const refusal = channel === undefined ? null : whyNotElsewhere(facts);
  if (refusal !== null) return refusal;
  if (name === null) return whyLeft(facts, force) ?? whyNoRetry(facts);
  // An operator who names a file may know more than its row does, for example that its video was deleted or that a
  // captive portal swallowed the upload.
  if (isDone(facts) || (stateOf(facts) === 'processing' && saysNothingArrived(facts))) return null;
  return whyNoRetry(facts) ?? whyUseless(facts, force);
}

/** A video's channel cannot be changed (api-spec 4.1). */
function whyNotElsewhere(facts: Facts): string | null {
  const { plan, videoId, end } = facts;
  if (end !== 'failed' && end !== 'held' && !waitsForChannel(facts))
    return 'only files that failed, are held or wait for a channel can be sent to another channel';
  if (videoId !== null)
    return `it has video ${videoId} in channel ${plan?.channel ?? ''} already, and the service cannot move a video: delete it there first`;
  return plan === null ? 'no rule matches it: add a rule with that channel' : null;
}

interface How {
  readonly channel?: string;
  readonly patience: Patience;
}

/** Re-arms a file. Waits for its row, which the step that just failed may still hold. */
async function rearm(daemon: Daemon, wanted: Facts, how: How): Promise<string | null> {
  const asked = isDone(wanted) ? await daemon.conductor.checkVideo(wanted) : null;
  if (asked === 'there') return 'done, and the service still has its video: nothing to retry';
  if (asked !== null && typeof asked !== 'string')
    return `the service cannot say whether it has its video: ${asked.message}`;
  const facts = asked === null ? wanted : ((await daemon.ledger.load(wanted.id)) ?? wanted);
  const again = isLeftOnDisk(facts) ? putAwayAgain : startAgain;
  const elsewhere = isLeftOnDisk(facts) ? whyElsewhere(daemon, facts.folder) : null;
  if (elsewhere !== null) return elsewhere;
  const applied = await how.patience.untilFree(facts.folder, async () => {
    const now = await again(daemon, facts, how);
    return now === 'busy' ? null : now;
  });
  if (applied === 'applied') return null;
  if (applied === 'ignored') return 'its state has just changed: nothing to retry';
  return applied === null ? heldWords(daemon.fleet, facts.id) : diskHangs;
}

async function startAgain(
  { conductor, folders }: Daemon,
  facts: Facts,
  { channel, patience }: How,
): Promise<Applied | 'disk hangs'> {
  const accepted = await patience.forDisk(facts.folder, () => folders.reroute(facts));
  if (accepted === null) return 'disk hangs';
  if (accepted === 'busy') return 'busy';
  return conductor.apply(facts.id, channel === undefined ? { type: 'RETRY' } : { type: 'SEND_ELSEWHERE', channel });
}

async function putAwayAgain({ conductor }: Daemon, { id }: Facts): Promise<Applied> {
  const isTried = await conductor.putAwayAgain(id);
  if (isTried === null) return 'busy';
  return isTried ? 'applied' : 'ignored';
}

function isDone(facts: Facts): boolean {
  return stateOf(facts) === 'done' && !isLeftOnDisk(facts);
}

/** Whether the video is done but its local file could not be deleted or moved. */
function isLeftOnDisk({ end, disposal }: Facts): boolean {
  return end === 'done' && (disposal === 'waiting' || disposal === 'refused');
}

/** Returns why a retry of many files skips this one, or null. */
function whyLeft(facts: Facts, force: boolean): string | null {
  const rule = retryRule(facts.lastFailure);
  if (rule.takes === 'none') return rule.because;
  if (isWithoutPlan(facts))
    return 'no rule matches them, or their sidecar is broken: they continue automatically once that is fixed';
  if (rule.takes === 'any' || force) return null;
  return `${rule.because}; ${rule.takes === 'named' ? 'name one to retry it' : '--force uploads them as they are'}`;
}

/** Returns why retrying this particular file cannot help, or null. */
function whyUseless(facts: Facts, force: boolean): string | null {
  const { why, lastFailure } = facts;
  const rule = retryRule(lastFailure);
  if (isLeftOnDisk(facts)) return null;
  if (rule.takes === 'none') return why;
  if (rule.takes !== 'forced' || force) return null;
  return `${why ?? lastFailure?.message ?? ''} (${rule.because}): \`dropcast retry --force\` uploads it as it is`;
}

function whyNoRetry(facts: Facts): string | null {
  const state = stateOf(facts);
  if (isLeftOnDisk(facts)) return null;
  if (isWithoutPlan(facts) && retryRule(facts.lastFailure).takes !== 'none')
    return `${facts.why ?? 'held'}: change the rules or the sidecar, then it continues automatically`;
  if (['failed', 'held', 'retrying', 'skipped'].includes(state)) return null;
  return `${stageOf(facts, false)}: nothing to retry`;
}

function isWithoutPlan(facts: Facts): boolean {
  // Excludes ignored files: retrying one queries the service again.
  return facts.plan === null && ['held', 'skipped'].includes(stateOf(facts)) && !isIgnored(facts);
}
