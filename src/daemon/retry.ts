import type { Facts } from '../pipeline/file/facts.ts';
import { stateOf } from '../pipeline/file/facts.ts';
import { retryRule } from '../pipeline/file/retry-rules.ts';
import type { Applied } from '../pipeline/steps/runner.ts';
import type { Daemon } from './daemon.ts';

/** What a retry did with each file. */
export interface RetryResult {
  readonly v: 1;
  readonly retried: readonly string[];
  readonly refused: readonly { readonly name: string; readonly why: string }[];
  /** Files in the wanted states that it left alone, by reason. */
  readonly left: readonly { readonly why: string; readonly files: number }[];
  /** Why everything was paused, or null. The service is asked again at once. */
  readonly waited: string | null;
}

/** Which files to retry: by name, and all in some states. */
export interface Wanted {
  readonly names: readonly string[];
  readonly states: readonly string[];
  /** Also what nothing can have cured. */
  readonly force?: boolean;
}

/** Re-arms files that failed, are held, skipped or waiting, and probes the service at once. */
export async function retry(daemon: Daemon, { names, states, force = false }: Wanted): Promise<RetryResult> {
  const retried: string[] = [];
  const refused: { name: string; why: string }[] = [];
  const left = new Map<string, number>();
  const attempt = async (name: string, facts: Facts): Promise<void> => {
    const why = await rearm(daemon, facts);
    if (why === null) retried.push(facts.id);
    else refused.push({ name, why });
  };
  for (const facts of states.length === 0 ? [] : await daemon.ledger.list({ states, limit: 100_000 })) {
    const why = whyLeft(facts, force);
    if (why === null) await attempt(facts.id, facts);
    else left.set(why, (left.get(why) ?? 0) + 1);
  }
  // They go on by themselves too, like what is `retrying`.
  if (states.includes('retrying'))
    for (const facts of await daemon.ledger.waitingForDisk(100_000)) await attempt(facts.id, facts);
  for (const name of names) {
    const found = await daemon.ledger.find(name);
    const [facts] = found;
    if (facts === undefined) refused.push({ name, why: 'unknown file' });
    else if (found.length > 1) refused.push({ name, why: `${found.length} files match: use an id or a longer path` });
    else {
      const why = whyNoRetry(facts) ?? whyUseless(facts, force);
      if (why === null) await attempt(name, facts);
      else refused.push({ name, why });
    }
  }
  const waited = daemon.conductor.pause()?.why ?? null;
  daemon.conductor.probeNow();
  return { v: 1, retried, refused, left: [...left].map(([why, files]) => ({ why, files })), waited };
}

/** The step that failed a moment ago may still hold the row: worth waiting a second. @returns why it was not possible, or null */
export async function rearm(daemon: Daemon, facts: Facts): Promise<string | null> {
  const again = isLeftOnDisk(facts) ? putAwayAgain : startAgain;
  for (let tries = 0; tries < 20; tries += 1) {
    const applied = await again(daemon, facts);
    if (applied === 'applied') return null;
    if (applied === 'ignored') return 'its state has just changed: nothing to retry';
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return 'busy: a step is working on it';
}

async function startAgain({ conductor, folders }: Daemon, facts: Facts): Promise<Applied> {
  return (await folders.reroute(facts)) === 'busy' ? 'busy' : conductor.apply(facts.id, { type: 'RETRY' });
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
export function whyLeft(facts: Facts, force: boolean): string | null {
  const isEnded = ['failed', 'held', 'retrying', 'skipped'].includes(stateOf(facts)) || isLeftOnDisk(facts);
  if (!isEnded) return 'on their way, or done';
  if (isWithoutPlan(facts))
    return 'no rule takes them, or their sidecar is broken: they go on by themselves once that is mended';
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
  return facts.plan === null && ['held', 'skipped'].includes(stateOf(facts));
}
