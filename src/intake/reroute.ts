import { stateOf, suspectsOf } from '../pipeline/file/facts.ts';
import type { Amendment, Facts } from '../pipeline/file/facts.ts';
import { unknownNameCodes } from '../pipeline/file/failure.ts';
import type { Failure } from '../pipeline/file/failure.ts';
import { finished } from '../pipeline/file/finished.ts';
import {
  isBeingTakenBack,
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

/** Returns why a file is held before anything is sent. The row keeps the code, so that no code parses the message. */
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

/** @param why dropcast may not open the directory, with the command that grants access */
export function closedDirectory(why: string): Failure {
  return hold('closed_directory', why);
}

/**
 * Whether a held file is rerouted from time to time. Its sidecar may be the cause, or the rules may have changed while
 * the service was asked for a record that it then refused.
 */
export function isRoutedRegularly(facts: Facts): boolean {
  const { lastFailure } = facts;
  return lastFailure?.code !== 'no_rule' && lastFailure?.code !== 'flawed' && !isHeldUnread(facts);
}

/** Whether the service has, or may have, a record with the current metadata. */
export function wasSent(facts: Facts): boolean {
  return facts.intent !== null || facts.videoId !== null;
}

/**
 * Returns what another route changes in a row; null if nothing. Changes to sent metadata become an amendment. Pure.
 *
 * @param now epoch milliseconds
 */
export function rerouted(facts: Facts, route: Route, now: number): Partial<Facts> | null {
  // A file that was put away is not affected by the files around its new place. What was sent is compared with the
  // video before it is deleted.
  if (facts.disposal === 'moved' || facts.disposal === 'deleted' || isBeingTakenBack(facts)) return null;
  if (facts.plan === null) return unheld(facts, route);
  if (route.kind === 'held') {
    // A person chose this file's channel.
    if (facts.plan.chosenChannel !== undefined) return null;
    const mayHold = facts.end === null && !wasSent(facts);
    return mayHold ? { ...heldFor(hold(route.code, route.why), now), plan: null, notBefore: null } : null;
  }
  const { proofs } = facts.plan;
  const planned = { ...asChosen(facts.plan, route.plan), ...(proofs !== undefined && { proofs }) };
  if (isSamePlan(facts.plan, planned)) return null;
  if (!wasSent(facts)) return { plan: planned, ...goesOn(facts, planned) };
  // A video's channel cannot be changed (api-spec 4.1).
  const plan = {
    ...planned,
    channel: facts.plan.channel,
    ...refusedBy(facts.plan, route.said),
    publish: feedsOf(facts, planned, route.said),
  };
  if (isSamePlan(facts.plan, plan)) return null;
  return { plan, ...waitsNoMore(facts, plan, now), ...amended(facts, facts.plan, plan) };
}

function asChosen({ chosenChannel }: Plan, plan: Plan): Plan {
  return chosenChannel === undefined ? plan : { ...plan, channel: chosenChannel, chosenChannel };
}

function refusedBy({ channel }: Plan, said: Sidecar | undefined): Pick<Plan, 'refusedChannel'> {
  return said?.channel === undefined || said.channel === channel ? {} : { refusedChannel: said.channel };
}

/** Returns the feeds that a finished video gets. An unfinished video is published to them anyway. */
function furtherFeeds({ end }: Facts, before: Plan, { publish }: Plan): readonly string[] {
  return end === 'done' ? publish.filter((feed) => !before.publish.includes(feed)) : [];
}

/** Releases a file that is waiting for a channel the service does not have, once it is routed to another channel. */
function goesOn({ plan, lastFailure }: Facts, { channel }: Plan): Partial<Facts> {
  const waits = lastFailure?.code === unknownNameCodes.channel;
  return waits && channel !== plan?.channel ? { notBefore: null, lastFailure: null } : {};
}

/** Updates a file without a plan, which is waiting for a matching rule or a readable sidecar. */
function unheld(facts: Facts, route: Route): Partial<Facts> | null {
  if (isClosedDirectory(facts)) return null;
  const isLeft = wasThereBefore(facts) || isIgnored(facts);
  if (!isLeft && facts.end !== 'held') return null;
  if (isLeft || facts.lastFailure?.code === 'flawed' || isHeldUnread(facts))
    return route.kind === 'held' ? null : { plan: route.plan };
  if (route.kind === 'take') return { plan: route.plan, end: null, why: null, endedAt: null, lastFailure: null };
  const isSame = route.why === facts.why && route.code === facts.lastFailure?.code;
  return isSame ? null : { why: route.why, lastFailure: hold(route.code, route.why) };
}

/** Returns the change that holds a row, permanently or until a rule, sidecar or proof changes. */
export function heldFor(failure: Failure, now: number): Partial<Facts> {
  return { end: 'held', why: failure.message, endedAt: now, lastFailure: failure };
}

/**
 * Returns the facts of a file that had vanished and is back. The file is judged like a new one, because the file, its
 * sidecar or the rules may have been fixed. A file that is waiting for a person's decision keeps waiting. Pure.
 *
 * @param now epoch milliseconds
 */
export function returned(facts: Facts, arrival: Arrival, now: number): Facts {
  const { lastFailure } = facts;
  if (lastFailure?.kind === 'gone' || lastFailure?.kind === 'unclear')
    return { ...facts, ...heldFor(lastFailure, now) };
  // The file starts over. An unanswered create request becomes a suspect like any other.
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
  // The file's record is empty and will be replaced. A video's channel cannot be changed (api-spec 4.1).
  if (again.dying || (again.videoId !== null && plan.channel !== again.plan.channel))
    return { ...again, plan, amendment: null, dying: true };
  return { ...again, ...rerouted(again, route, now) };
}

/**
 * Returns a file's new feeds. A finished file keeps its feeds and gets those that its sidecar adds. A ready video may
 * get further feeds.
 */
function feedsOf(facts: Facts, after: Plan, said: Sidecar | undefined): readonly string[] {
  const { end, readyAt, plan } = facts;
  const before = plan?.publish ?? [];
  if (end === 'superseded') return before;
  if (end === 'done') return [...new Set([...before, ...(said?.publish ?? [])])];
  return end === null && readyAt !== null ? feedsAhead(facts, after) : after.publish;
}

/**
 * Returns the feeds of a ready video that is not in all of them yet. Earlier feeds are kept, because they may be
 * publishing the video right now. A feed that the service does not have and the rules no longer name is dropped. Pure.
 */
function feedsAhead(facts: Facts, after: Pick<Plan, 'publish'>): readonly string[] {
  const missing = missingFeed(facts);
  const all = new Set([...(facts.plan?.publish ?? []), ...after.publish]);
  return [...all].filter((feed) => feed !== missing || after.publish.includes(feed));
}

/** Releases a file from waiting for an unknown feed that the rules no longer name. It may have been the last feed. */
function waitsNoMore(facts: Facts, plan: Plan, now: number): Partial<Facts> {
  const missing = missingFeed(facts);
  if (missing === null || plan.publish.includes(missing)) return {};
  const freed: Facts = { ...facts, plan, lastFailure: null };
  return { lastFailure: null, ...(stateOf(freed) === 'done' && finished(freed, 'done', now)) };
}

function amendmentOf(before: Plan, after: Plan): Amendment | null {
  const amendment: Amendment = {
    ...(before.title !== after.title && { title: after.title }),
    ...(before.description !== after.description && { description: after.description ?? '' }),
    ...(before.tags.join('\n') !== after.tags.join('\n') && { tags: after.tags }),
  };
  return Object.keys(amendment).length === 0 ? null : amendment;
}

function isSamePlan(one: Plan, other: Plan): boolean {
  const said = ({ proofs: _proofs, ...plan }: Plan): string => JSON.stringify({ ...plan, rule: '' });
  return said(one) === said(other);
}

export type Reapplied =
  | { readonly is: 'refused'; readonly why: string }
  /** `channel`: the channel that the current rules choose if the video is in a different one; otherwise null. */
  | { readonly is: 'same'; readonly channel: string | null }
  | {
      readonly is: 'changed';
      readonly channel: string | null;
      /** Fields to change in the row. */
      readonly row: Partial<Facts>;
      /** Whether the change costs a request to the service. */
      readonly isSent: boolean;
      /** Feeds to publish again, or to publish a finished video to for the first time. */
      readonly publishes: readonly string[];
      readonly changes: readonly { readonly what: string; readonly from: string; readonly to: string }[];
    };

/**
 * Returns what the current rules change for a file that was routed before. Only applied at a person's request, because
 * a finished file keeps its metadata (docs/decisions/0062). Pure.
 *
 * @param now epoch milliseconds
 */
export function reapplied(facts: Facts, route: Route, now: number): Reapplied {
  const { plan: before } = facts;
  if (before === null) return { is: 'refused', why: 'no rule matches it so far: it resumes once one does' };
  if (route.kind === 'held') return { is: 'refused', why: `${route.why} now: it keeps its metadata` };
  const { proofs } = before;
  const planned: Plan = { ...asChosen(before, route.plan), ...(proofs !== undefined && { proofs }) };
  if (!wasSent(facts)) {
    if (isSamePlan(before, planned)) return { is: 'same', channel: null };
    const changes = differences(before, planned, true);
    return { is: 'changed', channel: null, row: { plan: planned }, isSent: false, publishes: [], changes };
  }
  const channel = planned.channel === before.channel ? null : planned.channel;
  const { channel: own, refusedChannel } = before;
  const plan: Plan = {
    ...planned,
    channel: own,
    publish: feedsReapplied(facts, before, planned),
    ...(refusedChannel !== undefined && { refusedChannel }),
  };
  const amendment = amendmentOf(before, plan);
  const further = furtherFeeds(facts, before, plan);
  if (isSamePlan(before, plan)) return { is: 'same', channel };
  const again =
    amendment === null ? [] : [...Object.keys(facts.published), ...(facts.end === 'done' ? plan.publish : [])];
  return {
    is: 'changed',
    channel,
    row: { plan, ...waitsNoMore(facts, plan, now), ...amended(facts, before, plan) },
    isSent: amendment !== null,
    publishes: [...new Set([...again, ...further])],
    changes: differences(before, plan, false),
  };
}

/**
 * Returns the feeds under the current rules. A finished video keeps its feeds, because the service cannot remove it
 * from one.
 */
function feedsReapplied(facts: Facts, before: Plan, after: Plan): readonly string[] {
  if (facts.end === 'done') return [...new Set([...before.publish, ...after.publish])];
  return facts.readyAt === null ? after.publish : feedsAhead(facts, after);
}

/** Returns the amendment for new metadata or for a finished file's further feeds, which are published the same way. */
function amended(facts: Facts, before: Plan, after: Plan): Pick<Partial<Facts>, 'amendment'> {
  const amendment = amendmentOf(before, after);
  if (amendment === null && furtherFeeds(facts, before, after).length === 0) return {};
  return { amendment: { ...facts.amendment, ...amendment } };
}

function differences(
  before: Plan,
  after: Plan,
  isChannelFree: boolean,
): readonly { readonly what: string; readonly from: string; readonly to: string }[] {
  const said = (plan: Plan): Readonly<Record<string, string>> => ({
    ...(isChannelFree && { channel: plan.channel }),
    title: plan.title,
    description: plan.description ?? '',
    tags: plan.tags.join(', '),
    feeds: plan.publish.join(', '),
    priority: plan.priority ?? 'normal',
  });
  const [from, to] = [said(before), said(after)];
  return Object.keys(to)
    .filter((what) => from[what] !== to[what])
    .map((what) => ({ what, from: from[what] ?? '', to: to[what] ?? '' }));
}
