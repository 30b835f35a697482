import type { Amendment, Facts } from '../pipeline/file/facts.ts';
import type { Plan, Route } from '../routing/plan.ts';
import { amendmentOf, asChosen, feedsAhead, isSamePlan, waitsNoMore, wasSent } from './reroute.ts';

/** What it means for a file to ask the rules again. */
export type Reapplied =
  | { readonly is: 'refused'; readonly why: string }
  /** `channel`: what the rules say now of a video that is in another one already; null: nothing else. */
  | { readonly is: 'same'; readonly channel: string | null }
  | {
      readonly is: 'changed';
      readonly channel: string | null;
      /** For the row. */
      readonly row: Partial<Facts>;
      /** Whether it costs a request to tell the service. */
      readonly isSent: boolean;
      /** Feeds to publish again, or for the first time with a finished video. */
      readonly publishes: readonly string[];
      readonly changes: readonly { readonly what: string; readonly from: string; readonly to: string }[];
    };

/**
 * Pure: what the rules of now change about a file that they decided about before. Only ever asked for by a person: a finished file
 * keeps what it was sent with (docs/decisions/0062).
 *
 * @param now epoch milliseconds
 */
export function reapplied(facts: Facts, route: Route, now: number): Reapplied {
  const { plan: before } = facts;
  if (before === null) return { is: 'refused', why: 'no rule takes it so far: it resumes once one does' };
  if (route.kind === 'held') return { is: 'refused', why: `${route.why} now: it keeps what it has` };
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
    publish: feedsOf(facts, before, planned),
    ...(refusedChannel !== undefined && { refusedChannel }),
  };
  const amendment = amendmentOf(before, plan);
  const further = facts.end === 'done' ? plan.publish.filter((feed) => !before.publish.includes(feed)) : [];
  if (isSamePlan(before, plan)) return { is: 'same', channel };
  const again =
    amendment === null ? [] : [...Object.keys(facts.published), ...(facts.end === 'done' ? plan.publish : [])];
  return {
    is: 'changed',
    channel,
    row: { plan, ...waitsNoMore(facts, plan, now), ...amended(facts, amendment, further.length > 0) },
    isSent: amendment !== null,
    publishes: [...new Set([...again, ...further])],
    changes: differences(before, plan, false),
  };
}

/** A finished video stays in its feeds: the service takes it out of none. */
function feedsOf(facts: Facts, before: Plan, after: Plan): readonly string[] {
  if (facts.end === 'done') return [...new Set([...before.publish, ...after.publish])];
  return facts.readyAt === null ? after.publish : feedsAhead(facts, after);
}

/** Further feeds of a finished file are published like those of one with new metadata. */
function amended(facts: Facts, amendment: Amendment | null, hasFurther: boolean): Pick<Partial<Facts>, 'amendment'> {
  if (amendment === null && !hasFurther) return {};
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
