import type { Facts } from '../../pipeline/file/facts.ts';
import { stateOf } from '../../pipeline/file/facts.ts';
import { isIgnored, waitsForChannel } from '../../pipeline/file/reasons.ts';
import { retryRule } from '../../pipeline/file/retry-rules.ts';
import type { Applied } from '../../pipeline/steps/runner.ts';
import type { Daemon } from '../daemon.ts';
import { heldWords, whyElsewhere } from '../fleet/elsewhere-words.ts';
import { diskHangs, Patience } from './patience.ts';
import { Answers, wantedFiles } from './wanted.ts';
import type { CommandOptions, CommandResult, WantedFile, WantedFiles } from './wanted.ts';

/** What a retry did with each file. */
export interface RetryResult extends CommandResult {
  readonly retried: readonly string[];
  /** Why everything was paused, or null. The service is asked again at once. */
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
    requests: done.reduce((sum, facts) => sum + requestsOf(facts), 0),
    retried: done.map(({ id }) => id),
    refused: answers.refused,
    left: answers.left,
    waited,
    mend: wanted.channel === undefined ? [] : mendOf(daemon, done),
  };
}

async function* filesToRetry(daemon: Daemon, wanted: RetryWanted, answers: Answers): AsyncGenerator<WantedFile> {
  yield* wantedFiles(daemon, wanted, answers.refuse);
  // They go on by themselves too, like what is `retrying`.
  if (wanted.selection?.states?.includes('retrying') === true)
    for (const facts of await daemon.ledger.waitingForDisk(100_000)) yield { facts, name: null };
}

/** A new record for what has none; a video that failed, and a record that stayed empty, is deleted first. */
function requestsOf(facts: Facts): number {
  if (isLeftOnDisk(facts)) return 0;
  if (facts.videoId === null || facts.lastFailure?.kind === 'gone') return 1;
  const isEmpty = facts.end !== null && facts.uploadedAt === null;
  return facts.remoteStatus === 'failed' || isEmpty ? 3 : 0;
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
  return name === null ? (whyLeft(facts, force) ?? whyNoRetry(facts)) : (whyNoRetry(facts) ?? whyUseless(facts, force));
}

/** The channel of a video cannot be changed (api-spec 4.1). */
function whyNotElsewhere(facts: Facts): string | null {
  const { plan, videoId, end } = facts;
  if (end !== 'failed' && end !== 'held' && !waitsForChannel(facts))
    return 'only files that failed, are held or wait for a channel can be sent to another channel';
  if (videoId !== null)
    return `it has video ${videoId} in channel ${plan?.channel ?? ''} already, and the service cannot move a video: delete it there first`;
  return plan === null ? 'no rule takes it: add a rule with that channel' : null;
}

interface How {
  readonly channel?: string;
  readonly patience: Patience;
}

/** The step that failed a moment ago may still hold the row: worth waiting for. */
async function rearm(daemon: Daemon, facts: Facts, how: How): Promise<string | null> {
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

/** The video is done, but its local file could not be deleted or moved. */
function isLeftOnDisk({ disposal }: Facts): boolean {
  return disposal === 'waiting' || disposal === 'refused';
}

/** Why a retry of many files leaves one alone, or null. */
function whyLeft(facts: Facts, force: boolean): string | null {
  if (isWithoutPlan(facts))
    return 'no rule takes them, or their sidecar is broken: they go on by themselves once that is fixed';
  const rule = retryRule(facts.lastFailure);
  if (rule.takes === 'any' || force) return null;
  return `${rule.because}; ${rule.takes === 'named' ? 'name one to retry it' : '--force uploads them as they are'}`;
}

/** Why a retry of this very file cannot help, or null. */
function whyUseless(facts: Facts, force: boolean): string | null {
  const { why, lastFailure } = facts;
  const rule = retryRule(lastFailure);
  if (rule.takes !== 'forced' || force || isLeftOnDisk(facts)) return null;
  return `${why ?? lastFailure?.message ?? ''} (${rule.because}): \`dropcast retry --force\` uploads it as it is`;
}

function whyNoRetry(facts: Facts): string | null {
  const state = stateOf(facts);
  if (isLeftOnDisk(facts)) return null;
  if (isWithoutPlan(facts)) return `${facts.why ?? 'held'}: change the rules or the sidecar, then it goes on by itself`;
  if (['failed', 'held', 'retrying', 'skipped'].includes(state)) return null;
  return `${state}: nothing to retry`;
}

function isWithoutPlan(facts: Facts): boolean {
  // What somebody ignores is asked about again when that is taken back.
  return facts.plan === null && ['held', 'skipped'].includes(stateOf(facts)) && !isIgnored(facts);
}
