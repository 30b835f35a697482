import { feedsToPublish } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { FeedWait } from '../../pipeline/rounds/publish.ts';
import type { PollTrouble } from '../../pipeline/rounds/sweep.ts';
import { clockTime } from './clock-time.ts';

/** Why it takes long to hear of a video. */
export function pollWords(trouble: PollTrouble, nowMs: number): string {
  if (trouble.kind === 'no list')
    return `the service does not list videos (${trouble.failure.message}): dropcast asks for each one by its id, which takes longer`;
  const { nextAt, left, limit } = trouble;
  const waits = `the next check waits until ${clockTime(nextAt, nowMs)}`;
  if (left === 0) return `${waits}: all ${limit} requests of this hour are used`;
  const kept =
    left === 1 ? 'the one request that is left this hour is' : `the ${left} requests that are left this hour are`;
  return `${waits}: ${kept} kept for creating and publishing`;
}

/** Why a file that is ready is not published yet. */
export function publishWords(facts: Facts, waits: readonly FeedWait[], nowMs: number): string {
  const feeds = feedsToPublish(facts);
  const ours = waits.filter(({ feed }) => feeds.includes(feed));
  const failing = ours.find(({ failure }) => failure !== null);
  if (failing?.failure) {
    const next = failing.nextTryAt === null ? '' : `; next try at ${clockTime(failing.nextTryAt, nowMs)}`;
    return `feed ${failing.feed} could not be published: ${failing.failure.message}${next}`;
  }
  const latestAt = Math.max(...ours.map(({ latestAt: at }) => at));
  const until =
    Number.isFinite(latestAt) && latestAt > nowMs ? `, until ${clockTime(latestAt, nowMs)} at the latest` : '';
  return `waiting to publish several at once${until}`;
}
