import { stateOf, suspectsOf } from '../pipeline/file/facts.ts';
import type { Amendment, Facts } from '../pipeline/file/facts.ts';
import { unknownNameCodes } from '../pipeline/file/failure.ts';
import type { Failure } from '../pipeline/file/failure.ts';
import { finished } from '../pipeline/file/finished.ts';
import {
  isClosedDirectory,
  isHeldUnread,
  isIgnored,
  leftFromBefore,
  missingFeed,
  rearmed,
  wasThereBefore,
} from '../pipeline/file/reasons.ts';
import type { HoldCode, Plan, Route } from '../routing/plan.ts';
import type { Sidecar } from '../routing/sidecar.ts';
import type { Arrival } from './arrival.ts';

/** Why a file is held before anything of it is sent. The code stays in its row, so that nothing has to be read out of a sentence. */
export function holdOf({
  flaw,
  isUnreadable = false,
  route,
  leaving,
}: Pick<Arrival, 'flaw' | 'isUnreadable' | 'route' | 'leaving'>): Failure | null {
  if (flaw !== null) return hold(isUnreadable ? 'unreadable' : 'flawed', flaw);
  if (leaving === 'adopt') return leftFromBefore.adopt;
  return route.kind === 'held' ? hold(route.code, route.why) : null;
}

const hold = (code: HoldCode | 'flawed' | 'unreadable' | 'closed_directory', message: string): Failure => ({
  kind: 'permanent',
  code,
  message,
});

/** A directory that dropcast may not open. @param why with the command that opens it */
export function closedDirectory(why: string): Failure {
  return hold('closed_directory', why);
}

/**
 * Whether a file that waits for a rule, a sidecar or a channel is routed again from time to time: a sidecar may hold it, and the rules may
 * have changed while the service was asked for the record that it then refused.
 */
export function isRoutedRegularly(facts: Facts): boolean {
  const { lastFailure } = facts;
  return lastFailure?.code !== 'no_rule' && lastFailure?.code !== 'flawed' && !isHeldUnread(facts);
}

/** Whether a record with the present metadata is on the service, or may be. */
export function wasSent(facts: Facts): boolean {
  return facts.intent !== null || facts.videoId !== null;
}

/**
 * Pure: what another route changes in a row; null if nothing. What was already sent is sent again as an amendment.
 *
 * @param now epoch milliseconds
 */
export function rerouted(facts: Facts, route: Route, now: number): Partial<Facts> | null {
  // Put away: what lies beside its new place says nothing about it.
  if (facts.disposal === 'moved' || facts.disposal === 'deleted') return null;
  if (facts.plan === null) return unheld(facts, route);
  if (route.kind === 'held') {
    // A person said where it goes.
    if (facts.plan.chosenChannel !== undefined) return null;
    const mayHold = facts.end === null && !wasSent(facts);
    return mayHold ? { ...heldFor(hold(route.code, route.why), now), plan: null, notBefore: null } : null;
  }
  const { proofs } = facts.plan;
  const planned = { ...asChosen(facts.plan, route.plan), ...(proofs !== undefined && { proofs }) };
  if (isSamePlan(facts.plan, planned)) return null;
  if (!wasSent(facts)) return { plan: planned, ...goesOn(facts, planned) };
  // The channel of a video cannot be changed (api-spec 4.1).
  const plan = {
    ...planned,
    channel: facts.plan.channel,
    ...refusedBy(facts.plan, route.said),
    publish: feedsOf(facts, planned, route.said),
  };
  if (isSamePlan(facts.plan, plan)) return null;
  const amendment = amendmentOf(facts.plan, plan) ?? (hasFurtherFeeds(facts, plan) ? {} : null);
  const change = { plan, ...waitsNoMore(facts, plan, now) };
  return amendment === null ? change : { ...change, amendment: { ...facts.amendment, ...amendment } };
}

/** A channel that a person chose stays. */
export function asChosen({ chosenChannel }: Plan, plan: Plan): Plan {
  return chosenChannel === undefined ? plan : { ...plan, channel: chosenChannel, chosenChannel };
}

function refusedBy({ channel }: Plan, said: Sidecar | undefined): Pick<Plan, 'refusedChannel'> {
  return said?.channel === undefined || said.channel === channel ? {} : { refusedChannel: said.channel };
}

/** A video that waits for its feeds gets there by itself; nobody else would publish those of a finished one. */
function hasFurtherFeeds({ end, plan }: Facts, { publish }: Plan): boolean {
  return end === 'done' && publish.some((feed) => plan?.publish.includes(feed) !== true);
}

/** What waited for a channel that the service does not have need not, if it goes to another one. */
function goesOn({ plan, lastFailure }: Facts, { channel }: Plan): Partial<Facts> {
  const waits = lastFailure?.code === unknownNameCodes.channel;
  return waits && channel !== plan?.channel ? { notBefore: null, lastFailure: null } : {};
}

/** A file without a plan waits for a rule that takes it or for a readable sidecar. */
function unheld(facts: Facts, route: Route): Partial<Facts> | null {
  if (isClosedDirectory(facts)) return null;
  if (wasThereBefore(facts) || isIgnored(facts)) return route.kind === 'held' ? null : { plan: route.plan };
  if (facts.end !== 'held') return null;
  if (facts.lastFailure?.code === 'flawed' || isHeldUnread(facts))
    return route.kind === 'held' ? null : { plan: route.plan };
  if (route.kind === 'take') return { plan: route.plan, end: null, why: null, endedAt: null, lastFailure: null };
  const isSame = route.why === facts.why && route.code === facts.lastFailure?.code;
  return isSame ? null : { why: route.why, lastFailure: hold(route.code, route.why) };
}

/** What becomes of a row that is held, for good or until something beside it changes. */
export function heldFor(failure: Failure, now: number): Partial<Facts> {
  return { end: 'held', why: failure.message, endedAt: now, lastFailure: failure };
}

/**
 * Pure: a file that had vanished and is there again. It is judged as if it came now, because whoever put it back may have fixed the
 * file, its sidecar or the rules. A file that waits for a person's decision still does.
 *
 * @param now epoch milliseconds
 */
export function returned(facts: Facts, arrival: Arrival, now: number): Facts {
  const { lastFailure } = facts;
  if (lastFailure?.kind === 'gone' || lastFailure?.kind === 'unclear')
    return { ...facts, ...heldFor(lastFailure, now) };
  // A create request without an answer concerns this file no more than any other suspect: it starts over.
  const isUnbound = facts.videoId === null && facts.sourceUrl === null;
  const again: Facts = {
    ...facts,
    ...rearmed(facts, now),
    ...(isUnbound && { intent: null, suspects: suspectsOf(facts) }),
    sourceUrl: arrival.sourceUrl,
  };
  const { route, flaw } = arrival;
  const plan = route.kind === 'take' ? (facts.plan === null ? route.plan : asChosen(facts.plan, route.plan)) : null;
  const failure = wasSent(again) && flaw === null ? null : holdOf(arrival);
  if (failure !== null) return { ...again, plan: wasSent(again) ? again.plan : plan, ...heldFor(failure, now) };
  if (plan === null || again.plan === null) return { ...again, plan: plan ?? again.plan };
  // Its record is empty and is replaced. The channel of a video cannot be changed (api-spec 4.1).
  if (again.dying || (again.videoId !== null && plan.channel !== again.plan.channel))
    return { ...again, plan, amendment: null, dying: true };
  return { ...again, ...rerouted(again, route, now) };
}

/** A done file stays as it is, unless its sidecar says more. A ready video may get further feeds. */
function feedsOf(facts: Facts, after: Plan, said: Sidecar | undefined): readonly string[] {
  const { end, readyAt, plan } = facts;
  const before = plan?.publish ?? [];
  if (end === 'superseded') return before;
  if (end === 'done') return [...new Set([...before, ...(said?.publish ?? [])])];
  return end === null && readyAt !== null ? feedsAhead(facts, after) : after.publish;
}

/**
 * Pure: the feeds of a ready video that is not in all of them yet. It keeps those of before, which may be publishing it at this moment, but
 * not one that the service does not have, if the rules do not name it any more.
 */
export function feedsAhead(facts: Facts, after: Pick<Plan, 'publish'>): readonly string[] {
  const missing = missingFeed(facts);
  const all = new Set([...(facts.plan?.publish ?? []), ...after.publish]);
  return [...all].filter((feed) => feed !== missing || after.publish.includes(feed));
}

/** What waited for a feed that the service does not have need not, if the rules do not name it any more. It may have been the last one. */
export function waitsNoMore(facts: Facts, plan: Plan, now: number): Partial<Facts> {
  const missing = missingFeed(facts);
  if (missing === null || plan.publish.includes(missing)) return {};
  const freed: Facts = { ...facts, plan, lastFailure: null };
  return { lastFailure: null, ...(stateOf(freed) === 'done' && finished(freed, 'done', now)) };
}

export function amendmentOf(before: Plan, after: Plan): Amendment | null {
  const amendment: Amendment = {
    ...(before.title !== after.title && { title: after.title }),
    ...(before.description !== after.description && { description: after.description ?? '' }),
    ...(before.tags.join('\n') !== after.tags.join('\n') && { tags: after.tags }),
  };
  return Object.keys(amendment).length === 0 ? null : amendment;
}

export function isSamePlan(one: Plan, other: Plan): boolean {
  const said = ({ proofs: _proofs, ...plan }: Plan): string => JSON.stringify({ ...plan, rule: '' });
  return said(one) === said(other);
}
