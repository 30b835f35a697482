import {
  droppedName,
  lastsAny,
  looked,
  post,
  toTell,
  type Conditions,
  type MessageTarget,
  type NewsDesk,
  type NewsKind,
} from '@dropcast/notify';
import type { Daemon } from '../../daemon/daemon.ts';
import type { Failure } from '../../pipeline/file/failure.ts';
import { mayBeDone } from '../../view/words/unavailable-words.ts';
import { sightsNow, type Sight } from '../../view/hosts/sights.ts';
import { needsYouIn } from '../../view/picture/read-rows.ts';
import { dayTotals, receipt, receiptDue, type LastReceipt } from './daily.ts';
import { causeOf, dayOfCause, expectationTroubles, hostOfCause, pausesSeen, troublesOf } from './troubles.ts';
import { recipientsOf } from '../../daemon/recipients.ts';
import { fileMessages, newsOfFiles, personalMessages, type Cursor } from './file-news.ts';
import { withWaitingFiles } from './waiting-files.ts';

/** How long file events are collected for one message, in milliseconds. */
const batchMs = 60_000;
const troublesEveryMs = 15_000;
const budgetMemoryMs = 5 * 60_000;

const memory = {
  cursor: 'cursor',
  conditions: 'conditions',
  receipt: (target: string) => `receipt:${target}`,
} as const;

/** Troubles that make the heartbeat report failure. */
const illnesses: ReadonlySet<NewsKind> = new Set(['folder_away', 'paused', 'key_refused']);

export function createNewsDesk(daemon: Daemon, now: () => number): NewsDesk {
  const rows = daemon.ledger.news;
  const outbox = { outbox: rows, results: daemon.messageTargets };
  const feeds = new Map<string, Failure>();
  /** Causes of feeds that were published or failed since the start. */
  const published = new Set<string>();
  let state: { cursor: Cursor; conditions: Conditions; remembered: Conditions } | null = null;
  let isClosed = false;
  // Starts with news that an earlier run did not report.
  let changedAt: number | null = now();
  let troublesAt = -Infinity;
  let usedUpAt = -Infinity;
  const receipts = new Map<string, LastReceipt>();

  const unlisten = daemon.events.listen((event) => {
    if (event.type === 'file') changedAt ??= now();
    if (event.type !== 'feed') return;
    published.add(`feed: ${event.feed}`);
    if (event.failure === null) feeds.delete(event.feed);
    else feeds.set(event.feed, event.failure);
  });

  const load = async (): Promise<NonNullable<typeof state>> => {
    const known = (await rows.recall(memory.cursor)) as Cursor | null;
    const last = await daemon.ledger.lastPassage();
    const cursor = known ?? { from: last, read: last };
    if (known === null) await rows.commit({ remember: { [memory.cursor]: cursor } });
    const conditions = ((await rows.recall(memory.conditions)) ?? {}) as Conditions;
    return { cursor, conditions, remembered: conditions };
  };

  const lookAtFiles = async (targets: readonly MessageTarget[], current: NonNullable<typeof state>) => {
    const at = now();
    // Other hosts' events do not arrive here, so the ledger is always checked.
    if (daemon.fleet !== null) changedAt ??= at;
    const since = changedAt;
    if (since === null || (at - since < batchMs && at >= since)) return [];
    changedAt = null;
    try {
      const { news, cursor, isAll } = await newsOfFiles(daemon.ledger, current.cursor, {
        feedUrl: daemon.feedLinks.find,
        recipientsOf: (facts) => recipientsOf(daemon.config(), facts),
      });
      // After a flood of news, the rest is sent a minute later.
      if (!isAll) changedAt = at;
      if (cursor.read === current.cursor.read) return [];
      const names = await post(outbox, targets, {
        messages: fileMessages(news, at),
        personal: ({ name }) => personalMessages(news, name, at),
        remember: { [memory.cursor]: cursor },
        now: at,
      });
      current.cursor = cursor;
      return names;
    } catch (error) {
      // The ledger failed; the next check tries again.
      changedAt = since;
      throw error;
    }
  };

  const lookAtTroubles = async (targets: readonly MessageTarget[], current: NonNullable<typeof state>) => {
    const at = now();
    if (Math.abs(at - troublesAt) < troublesEveryMs) return [];
    const sights = sightsNow(daemon);
    const hosts = daemon.fleet?.known() ?? [];
    const { used, limit, blockedUntil, waiting } = daemon.gate.snapshot();
    // Requests waiting on other hosts are unknown here, so a reported shortage lasts until the budget has room again.
    const isWanted = waiting > 0 || (daemon.fleet !== null && current.conditions['budget']?.isOn === true);
    // A limit that resets within seconds delays files too briefly for a notification.
    if (blockedUntil - at > troublesEveryMs || (isWanted && used >= limit * 0.95)) usedUpAt = at;
    const budget = { isUsedUp: Math.abs(at - usedUpAt) < budgetMemoryMs, limit };
    const silent = hosts.filter(({ isHeard, isStopped }) => !isHeard && !isStopped);
    const troubles = troublesOf({ sights, silent, feeds, budget }, at);
    const expected = new Set(sights.flatMap((sight) => sight.expected.map(causeOf)));
    const members = new Set(hosts.map(({ name }) => name));
    const isPast = (cause: string): boolean => !expected.has(cause) && (daemon.fleet === null || isLongPast(cause, at));
    const before = withoutPast(current.conditions, { isPast, members });
    const isKnown = knownFrom(sights, { published, expected, members, conditions: before });
    // Updated even if the write below fails, so that the start of a trouble is not lost.
    current.conditions = looked(before, troubles, at, isKnown);
    const next = toTell(current.conditions, at);
    const isNews = next.messages.length > 0 || JSON.stringify(next.conditions) !== JSON.stringify(current.remembered);
    const names = isNews
      ? await post(outbox, targets, {
          messages: withWaitingFiles(next.messages, await waitingFiles(), pausesSeen(sights)),
          remember: { [memory.conditions]: next.conditions },
          now: at,
        })
      : [];
    current.conditions = current.remembered = next.conditions;
    troublesAt = at;
    return names;
  };

  const waitingFiles = async () => ({
    'by state': await daemon.ledger.totals('by state'),
    backlog: await daemon.ledger.totals('backlog'),
  });

  const lookAtTheDay = async (targets: readonly MessageTarget[]) => {
    const names: string[] = [];
    for (const target of targets) {
      if (!target.on.includes('daily')) continue;
      const name = memory.receipt(target.name);
      const last = receipts.get(name) ?? ((await rows.recall(name)) as LastReceipt | null);
      const { since, next } = receiptDue(last, target.daily.at, now());
      if (last !== null) receipts.set(name, last);
      if (next === null) continue;
      const message = since === null ? null : await receiptOf(target, since, next.until);
      const messages = message === null ? [] : [message];
      names.push(...(await post(outbox, [target], { messages, remember: { [name]: next }, now: next.until })));
      receipts.set(name, next);
    }
    return names;
  };

  const receiptOf = async (target: MessageTarget, since: number, until: number) => {
    const counts = await daemon.ledger.totals('by state');
    const expected = [...daemon.expectations.list(), ...sightsNow(daemon).flatMap((sight) => sight.expected)];
    const missing = new Map(expectationTroubles(expected, until).map(({ cause, title }) => [cause, title]));
    const needsYou = needsYouIn(counts);
    const isWanted = target.daily.isForIdleDays || expected.some(({ by }) => by > since && by <= until);
    return receipt(
      await dayTotals(daemon.ledger, since, until),
      { needsYou, missing: [...missing.values()], isWanted },
      until,
    );
  };

  const readAgain = (): void => {
    state = null;
    receipts.clear();
    changedAt = now();
  };

  return {
    look: async (targets) => {
      isClosed = false;
      state ??= await load();
      try {
        return [
          ...(await lookAtTroubles(targets, state)),
          ...(await lookAtFiles(targets, state)),
          ...(await lookAtTheDay(targets)),
        ];
      } catch (error) {
        // The messages may have been stored; the state stored with them shows whether they were.
        if (mayBeDone(error)) readAgain();
        throw error;
      }
    },
    forget: async (targets) => {
      const known = targets.flatMap((target) => [memory.receipt(target), droppedName(target)]);
      for (const name of known) receipts.delete(name);
      await rows.commit({ remember: Object.fromEntries(known.map((name) => [name, null])) });
    },
    takeOver: () => {
      readAgain();
      // Another host may have published feeds since then.
      feeds.clear();
      published.clear();
    },
    close: async () => {
      if (isClosed) return;
      await rows.commit({ remember: { [memory.cursor]: null, [memory.conditions]: null } });
      isClosed = true;
      state = null;
    },
    isWell: () => !lastsAny(state?.conditions ?? {}, illnesses, now()),
    [Symbol.dispose]: unlisten,
  };
}

/**
 * Returns whether the end of a trouble would be visible: a starting folder shows nothing yet, and a silent or stopped
 * host no longer reports.
 */
function knownFrom(
  sights: readonly Sight[],
  of: {
    readonly published: ReadonlySet<string>;
    readonly expected: ReadonlySet<string>;
    readonly members: ReadonlySet<string>;
    readonly conditions: Conditions;
  },
): (cause: string) => boolean {
  const starting = new Set(
    sights.flatMap(({ host, folders }) =>
      folders
        .filter(({ state }) => state === 'starting')
        .map(({ path }) => (host === null ? `folder: ${path}` : `on ${host}: folder: ${path}`)),
    ),
  );
  const seeing = new Set(sights.map(({ host }) => host));
  const isHidden = (host: string): boolean => of.members.has(host) && !seeing.has(host);
  return (cause) => {
    // After a restart, the state of a feed that had failed is unknown until its next publication.
    if (cause.startsWith('feed: ')) return of.published.has(cause);
    if (cause.startsWith('expected: ')) return of.expected.has(cause);
    if (of.conditions[cause]?.trouble.seenBy?.some(isHidden) === true) return false;
    const host = cause.startsWith('on ') ? hostOfCause(cause) : null;
    return (host === null || seeing.has(host)) && !starting.has(cause);
  };
}

/** Drops expectations of past days and troubles of former members, without a message. */
function withoutPast(
  conditions: Conditions,
  now: { isPast(cause: string): boolean; readonly members: ReadonlySet<string> },
): Conditions {
  const isPast = (cause: string): boolean => cause.startsWith('expected: ') && now.isPast(cause);
  const isGone = (cause: string): boolean => {
    const host = hostOfCause(cause);
    return host !== null && !now.members.has(host);
  };
  return Object.fromEntries(Object.entries(conditions).filter(([cause]) => !isPast(cause) && !isGone(cause)));
}

/** Other hosts' expectations are kept longer: a silent or newly started host reports its day later. */
function isLongPast(cause: string, now: number): boolean {
  return now - Date.parse(dayOfCause(cause)) > 3 * 24 * 60 * 60_000;
}
