import { setTimeout as delay } from 'node:timers/promises';
import type { FeedAnswer } from '../../pipeline/rounds/publish.ts';
import { clockTime } from '../../view/words/text.ts';
import type { Daemon } from '../daemon.ts';
import { withTurn } from '../../view/hosts/host-view.ts';
import type { CommandOptions } from './wanted.ts';

export type PublishResult = Awaited<ReturnType<typeof publish>>;

export interface PublishedFeed {
  readonly feed: string;
  /**
   * `later`: recorded, and published as soon as possible, even after a restart. `elsewhere`: recorded, and another
   * fleet host publishes it immediately.
   */
  readonly is: 'published' | 'failed' | 'later' | 'elsewhere' | 'planned';
  /** `files`: files that waited for the feed. `videos`: videos now in it; null: the service did not report them. */
  readonly files: number;
  readonly videos: number | null;
  /** Why the feed was not published. */
  readonly why: string | null;
}

/** How long to wait for the service, in milliseconds: the command gives up after 30 s. */
const patienceMs = 20_000;

/** Publishes feeds now, with one request per feed for everything waiting for it. `files` in the result wait for them. */
export async function publish(
  daemon: Daemon,
  { feeds }: { readonly feeds: readonly string[] },
  { isPlanned = false }: CommandOptions = {},
) {
  const known = await knownFeeds(daemon);
  const wanted = [...new Set(feeds)].filter((feed) => known.includes(feed));
  const refused = feeds
    .filter((feed) => !known.includes(feed))
    .map((name) => ({ name, why: unknownFeed(name, known) }));
  const waiting = new Map((await daemon.ledger.waiting()).map(({ feed, ids }) => [feed, ids.length]));
  const planned = wanted.map((feed): PublishedFeed => {
    return { feed, is: 'planned', files: waiting.get(feed) ?? 0, videos: null, why: null };
  });
  const answers = isPlanned ? planned : await Promise.all(planned.map((each) => publishOne(daemon, each)));
  const files = answers.reduce((sum, one) => sum + one.files, 0);
  return { v: 1, planned: isPlanned, files, requests: wanted.length, feeds: answers, refused };
}

async function publishOne(daemon: Daemon, planned: PublishedFeed): Promise<PublishedFeed> {
  const { conductor, pauses } = daemon;
  const { answer } = await conductor.publishNow(planned.feed);
  const elsewhere = publishedElsewhere(daemon);
  if (elsewhere !== null) return { ...planned, ...elsewhere };
  const given = await Promise.race([answer, delay(patienceMs, null, { ref: false })]);
  if (given !== null) return answered(planned, given);
  const why = conductor.pause()?.why ?? 'no answer from the service so far';
  return {
    ...planned,
    is: 'later',
    why: `${why}; it is published as soon as possible${pauses.all() === null ? '' : ', paused or not'}`,
  };
}

/** Returns the host that publishes for the fleet; null: this host does. */
function publishedElsewhere({ fleet, turn }: Daemon): Pick<PublishedFeed, 'is' | 'why'> | null {
  if (fleet === null || turn.signal() !== null) return null;
  const host = withTurn(fleet);
  if (host !== null) return { is: 'elsewhere', why: `${host} publishes it now, as it does for all hosts` };
  return { is: 'later', why: 'no host does that at the moment; the first one that takes files again publishes it' };
}

function answered(planned: PublishedFeed, answer: FeedAnswer): PublishedFeed {
  if (answer.ok) return { ...planned, is: 'published', files: answer.files, videos: answer.videos, why: null };
  const { message } = answer.failure;
  if (answer.nextTryAt === null) return { ...planned, is: 'failed', why: message };
  return { ...planned, is: 'later', why: `${message}; next try at ${clockTime(answer.nextTryAt, Date.now())}` };
}

/** Returns the feeds named by rules and by the sidecars of waiting files. */
async function knownFeeds(daemon: Pick<Daemon, 'config' | 'ledger'>): Promise<readonly string[]> {
  const ruled = daemon.config().folders.flatMap(({ rules }) => rules.flatMap(({ publish: feeds }) => feeds));
  return [...new Set([...ruled, ...(await daemon.ledger.totals('feeds ahead'))])].toSorted();
}

/** Explains that no rule names a feed, and lists those that exist. Pure. */
export function unknownFeed(feed: string, known: readonly string[]): string {
  const list =
    known.length === 0 ? 'the configuration has no feeds' : `the feeds of the configuration are: ${known.join(', ')}`;
  return `no rule publishes it; ${list}. \`dropcast feeds publish ${feed}\` publishes any feed of the account`;
}
