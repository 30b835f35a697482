import type { Facts } from '../../pipeline/file/facts.ts';
import { mayHaveArrived, stateOf } from '../../pipeline/file/facts.ts';
import { stageOf } from '../../view/stages.ts';
import { isIgnored, saysNothingArrived, waitsForChannel } from '../../pipeline/file/reasons.ts';
import { retryRule } from '../../pipeline/file/retry-rules.ts';
import { isUnsure } from '../../pipeline/steps/delete-video.ts';
import type { Applied } from '../../pipeline/steps/runner.ts';
import { firstNames } from '../../view/words/some-names.ts';
import type { Daemon } from '../daemon.ts';
import { heldWords, whyElsewhere } from '../../view/hosts/elsewhere-words.ts';
import { diskHangs, Patience } from './patience.ts';
import { Answers, wantedFiles } from './wanted.ts';
import type { CommandOptions, CommandResult, WantedFile, WantedFiles } from './wanted.ts';

/** The result of a retry for each file. */
export interface RetryResult extends CommandResult {
  readonly retried: readonly string[];
  /** Paths of the first few files, relative to their folders. */
  readonly examples: readonly string[];
  /** Why everything was paused, or null. The service is probed at once. */
  readonly waited: string | null;
  /** The rules whose channel was not taken, and where they are (`file:line`). */
  readonly mend: readonly { readonly rule: string; readonly channel: string; readonly at: string | null }[];
}

/** Which files to retry. */
export interface RetryWanted extends WantedFiles {
  /** Also what nothing can have cured. */
  readonly force?: boolean;
  /** Sends them to another channel than their rule says. */
  readonly channel?: string;
}

/** Re-arms files that failed, are held, skipped or waiting, and probes the service at once. */
export async function retry(
  daemon: Daemon,
  wanted: RetryWanted,
  { isPlanned = false }: CommandOptions = {},
): Promise<RetryResult> {
  const answers = new Answers();
  const patience = new Patience();
  const done: Facts[] = [];
  for await (const file of filesToRetry(daemon, wanted, answers)) {
    const { facts, name } = file;
    const why = whyNot(file, wanted);
    const refusal = why === null && !isPlanned ? await rearm(daemon, facts, { ...wanted, patience }) : null;
    if (why !== null) answers.leave(file, why);
    else if (refusal !== null) answers.refuse(name ?? facts.id, refusal);
    else done.push(facts);
  }
  const waited = daemon.conductor.pause()?.why ?? null;
  if (!isPlanned) daemon.conductor.probeNow();
  return {
    v: 1,
    planned: isPlanned,
    files: done.length,
    requests: requestsFor(daemon, done),
    retried: done.map(({ id }) => id),
    examples: firstNames(done).map(({ path }) => path),
    refused: answers.refused,
    left: answers.left,
    waited,
    mend: wanted.channel === undefined ? [] : mendOf(daemon, done),
  };
}

async function* filesToRetry(daemon: Daemon, wanted: RetryWanted, answers: Answers): AsyncGenerator<WantedFile> {
  yield* wantedFiles(daemon, wanted, answers.refuse);
  // These also continue automatically, like files that are `retrying`.
  if (wanted.selection?.states?.includes('retrying') === true || wanted.selection?.stages !== undefined)
    for (const facts of await daemon.ledger.rows({ group: 'waiting for disk', limit: 100_000 }))
      yield { facts, name: null };
}

/**
 * The cost of the retry until the files are done: the requests of each file, one for each feed, and the polls for all
 * the videos together. An upper bound; where videos fail once more, the reason of each takes another request.
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

/** One asks how its video is, or why it failed. */
const toFinish = 1;
const toCreate = 1;
/**
 * DELETE, then GET until the answer is 404, and a GET of the list: a service that answers 404 to everything has deleted
 * nothing.
 */
const toDelete = 3;

function requestsOf(facts: Facts): number {
  const { videoId, lastFailure, remoteStatus, uploadedAt, end } = facts;
  const isGone = lastFailure?.kind === 'gone' || (lastFailure?.kind === 'unclear' && videoId === null);
  if (videoId === null || isGone) return toCreate + toFinish;
  // The first request asks for its video; a 404 is checked against the list.
  if (end === 'done') return 2 + toCreate + toFinish;
  const isEmpty = end !== null && uploadedAt === null && !mayHaveArrived(facts);
  if (remoteStatus === 'failed' || isEmpty) return (isUnsure(facts) ? 1 : 0) + toDelete + toCreate + toFinish;
  return uploadedAt === null || saysNothingArrived(facts) ? 1 + toFinish : toFinish;
}

function mendOf(daemon: Daemon, files: readonly Facts[]): RetryResult['mend'] {
  const { file, folders } = daemon.config();
  const plans = new Map(files.flatMap(({ plan }) => (plan === null ? [] : [[plan.rule, plan] as const])));
  return Array.from(plans.values(), ({ rule, channel }) => {
    const line = folders.flatMap(({ rules }) => rules).find(({ key }) => key === rule)?.line;
    return { rule, channel, at: line === undefined ? null : `${file}:${line}` };
  });
}

/** Why a file is not retried, or null. A retry of many leaves what only a person can decide about. */
function whyNot({ facts, name }: WantedFile, { force = false, channel }: RetryWanted): string | null {
  const refusal = channel === undefined ? null : whyNotElsewhere(facts);
  if (refusal !== null) return refusal;
  if (name === null) return whyLeft(facts, force) ?? whyNoRetry(facts);
  // The operator knows more of a file that is named than its row does: that its video was deleted, or that a login page
  // took it.
  if (isDone(facts) || (stateOf(facts) === 'processing' && saysNothingArrived(facts))) return null;
  return whyNoRetry(facts) ?? whyUseless(facts, force);
}

/** The channel of a video cannot be changed (api-spec 4.1). */
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

/** The step that failed a moment ago may still hold the row: worth waiting for. */
async function rearm(daemon: Daemon, wanted: Facts, how: How): Promise<string | null> {
  const asked = isDone(wanted) ? await daemon.conductor.checkVideo(wanted) : null;
  if (asked === 'there') return 'done, and the service still has its video: nothing to retry';
  if (asked !== null && typeof asked !== 'string')
    return `the service cannot say whether it has its video: ${asked.message}`;
  const facts = asked === null ? wanted : ((await daemon.ledger.load(wanted.id)) ?? wanted);
  const again = isLeftOnDisk(facts) ? putAwayAgain : startAgain;
  const watched = daemon.config().folders.map(({ path }) => path);
  const elsewhere = isLeftOnDisk(facts) ? whyElsewhere(daemon.fleet, facts.folder, watched) : null;
  if (elsewhere !== null) return elsewhere;
  const applied = await how.patience.during(facts.folder, async (isOver) => {
    for (;;) {
      const now = await again(daemon, facts, how);
      if (now !== 'busy' || isOver.aborted) return now;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  if (applied === 'applied') return null;
  if (applied === 'ignored') return 'its state has just changed: nothing to retry';
  return applied === 'busy' ? heldWords(daemon.fleet, facts.id) : diskHangs;
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

/** The video is done, but its local file could not be deleted or moved. */
function isLeftOnDisk({ end, disposal }: Facts): boolean {
  return end === 'done' && (disposal === 'waiting' || disposal === 'refused');
}

/** Why a retry of many files leaves one alone, or null. */
function whyLeft(facts: Facts, force: boolean): string | null {
  const rule = retryRule(facts.lastFailure);
  if (rule.takes === 'none') return rule.because;
  if (isWithoutPlan(facts))
    return 'no rule matches them, or their sidecar is broken: they continue automatically once that is fixed';
  if (rule.takes === 'any' || force) return null;
  return `${rule.because}; ${rule.takes === 'named' ? 'name one to retry it' : '--force uploads them as they are'}`;
}

/** Why a retry of this very file cannot help, or null. */
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
  // A retry of an ignored file asks the service again.
  return facts.plan === null && ['held', 'skipped'].includes(stateOf(facts)) && !isIgnored(facts);
}
