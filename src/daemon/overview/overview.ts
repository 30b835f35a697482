import type { LedgerSnapshot } from '../../ledger/snapshot.ts';
import type { EventStream } from '../events.ts';
import type { Clock } from '../../pipeline/file/ports.ts';
import type { Folders } from '../../intake/folders.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Conductor } from '../../pipeline/conductor.ts';
import type { Expectations } from '../expectations/expectations.ts';
import { asHeld, viewOf } from '../files/file-view.ts';
import type { LiveDaemon } from '../files/file-view.ts';
import type { Outlook } from '../outlook/outlook.ts';
import { deafTargetViews } from '../message-targets.ts';
import type { MessageTargets } from '../message-targets.ts';
import { fleetStatusOf } from '../fleet/host-view.ts';
import { countSteps } from '../files/step-states.ts';
import { createDay } from './day.ts';
import { createFeedTimes } from './feeds.ts';
import { needsYouOf } from './needs-you.ts';
import { moreUnderWay, nowFile, underWay } from './now.ts';
import type { OverviewView } from './overview-view.ts';
import { briefly, stopOf, whyWords } from '../../view/waits.ts';
import type { Wait, WaitCause } from '../../view/waits.ts';
import { createPassed } from './passed.ts';
import { countUnmet, sentenceOf } from './sentence.ts';
import { stagesOf } from './stages.ts';

/** Rows of each state that are looked at. */
const mostRows = 13;

/** Lines of the history that are looked through for the hour before the start. */
const mostLines = 5_000;

/** A snapshot is kept this many times as long as it took: however many look, it costs one twentieth of a core. */
const restFactor = 20;
const leastRestMs = 400;

/** Parts of the running daemon that the overview reads. */
interface OverviewDaemon extends LiveDaemon {
  readonly startedAt: number;
  readonly ledger: Pick<Ledger, 'snapshot' | 'latestLines' | 'ended' | 'latestPublished' | 'news' | 'selection'>;
  readonly conductor: LiveDaemon['conductor'] & Pick<Conductor, 'nextPollAt'>;
  readonly folders: Pick<Folders, 'countSettling' | 'status'>;
  readonly expectations: Pick<Expectations, 'list'>;
  readonly messageTargets: Pick<MessageTargets, 'deaf'>;
  waits(): readonly Wait[];
  outlook(): Promise<Outlook>;
}

export interface Overview {
  (): Promise<OverviewView>;
  /** Whether the last answer was out of date, and the next one is not. */
  isBehind(): boolean;
}

/**
 * Counting and reading happen only after a row was written, and rarely while rows are written all the time. How far uploads are is in memory,
 * and always new.
 *
 * @returns asks for all of it; rejects when the ledger cannot be read
 */
export function createOverview(
  daemon: OverviewDaemon,
  world: { readonly events: Pick<EventStream, 'listen'>; readonly clock: Clock },
): Overview {
  const { events, clock } = world;
  const { ledger } = daemon;
  const passed = createPassed(clock);
  const day = createDay(ledger);
  const feeds = createFeedTimes(ledger);
  let written = 0;
  let readBefore: Promise<void> | null = null;
  let kept: Kept | null = null;
  let wasOld = false;
  events.listen((event) => {
    if (event.type === 'file' || event.type === 'elsewhere') written += 1;
    passed.told(event);
    day.told(event);
    feeds.told(event, clock.now());
  });

  const snapshot = async (): Promise<LedgerSnapshot> => {
    const startedAt = clock.elapsed();
    const key = `${written} ${daemon.rows.held().join()}`;
    if (kept !== null && (kept.key === key || startedAt < kept.until)) {
      wasOld = kept.key !== key;
      return kept.snapshot;
    }
    wasOld = false;
    const read = await ledger.snapshot({ held: () => daemon.rows.held(), working: mostRows, needing: 0 });
    const tookMs = clock.elapsed() - startedAt;
    kept = { key, snapshot: read, until: startedAt + Math.max(leastRestMs, restFactor * tookMs) };
    return read;
  };

  const hourBefore = async (): Promise<void> => {
    const lines = await ledger.latestLines(mostLines);
    passed.before(lines.filter(({ at }) => at < daemon.startedAt));
  };

  const ask = async (): Promise<OverviewView> => {
    await (readBefore ??= hourBefore());
    const found = await snapshot();
    return compose(daemon, {
      now: clock.now(),
      found,
      passed: (state) => passed.of(state),
      outlook: await daemon.outlook(),
      day: await day.view(clock.now()),
      feeds: await feeds.views(daemon.config(), daemon.conductor.feedsWaiting()),
      deafTargets: await deafTargetViews(daemon.messageTargets, ledger),
      fleet: daemon.fleet === null ? null : await fleetStatusOf(daemon.fleet, ledger),
    });
  };
  const isBehind = (): boolean => wasOld && clock.elapsed() >= (kept?.until ?? 0);
  return Object.assign(ask, { isBehind });
}

interface Kept {
  /** What was written, and which rows steps worked on. */
  readonly key: string;
  readonly snapshot: LedgerSnapshot;
  /** Not read again before, by the monotonic clock. */
  readonly until: number;
}

interface Found {
  readonly now: number;
  readonly found: LedgerSnapshot;
  readonly passed: (state: string) => number;
  readonly outlook: Outlook;
  readonly day: OverviewView['day'];
  readonly feeds: OverviewView['feeds'];
  readonly deafTargets: OverviewView['deaf_targets'];
  readonly fleet: OverviewView['fleet'];
}

function compose(
  daemon: OverviewDaemon,
  { now, found, passed, outlook, day, feeds, deafTargets, fleet }: Found,
): OverviewView {
  const { conductor, gate } = daemon;
  const counts = countSteps(found.working.filter(({ id }) => found.held.includes(id)))(found.counts);
  const settling = daemon.folders.countSettling();
  const live = asHeld(daemon, found.held);
  const shown = underWay(found);
  const nextPollAt = conductor.nextPollAt();
  const needsYou = needsYouOf(found);
  const waits = daemon.waits();
  const stop = stopOf(waits);
  const folders = daemon.folders.status().filter(({ state }) => state === 'frozen' || state === 'scanning');
  const of = (...states: readonly string[]): number => states.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  const usage = gate.snapshot();
  const expectations = daemon.expectations.list();
  return {
    v: 1,
    at: now,
    started_at: daemon.startedAt,
    sentence: sentenceOf({
      stopped: stop === null ? null : briefly(stop),
      uploading: of('uploading'),
      waiting: settling + of('queued', 'creating', 'awaiting upload'),
      following: of('processing', 'awaiting publish') - of('without feed'),
      retrying: of('retrying') - of('without channel'),
      needsYou: needsYou.files,
      frozenFolders: folders.filter(({ state }) => state === 'frozen').length,
      unmet: countUnmet(expectations),
      today: day.today,
      live: of('done'),
    }),
    stages: stagesOf({
      settling,
      counts: { ...counts, done: day.done },
      working: found.working,
      held: found.held,
      passed,
      outlook,
    }),
    retrying: { files: of('retrying'), next_at: found.nextTryAt },
    outlook: { limited_by: outlook.limitedBy, why: outlook.why, done_at: outlook.doneAt },
    needs_you: needsYou,
    now: {
      files: shown.map((facts) => nowFile(viewOf(live, facts), nextPollAt)),
      more: moreUnderWay(counts, shown.length),
    },
    budget: {
      used: usage.used,
      limit: usage.limit,
      others: usage.others,
      blocked_until: usage.blockedUntil > now ? usage.blockedUntil : null,
      frees: usage.frees.slice(0, 60).map(([inMs, requests]) => ({ at: Math.round(now + inMs), requests })),
    },
    day,
    feeds,
    folders: folders.map(({ path, state, why }) => ({ path, state, why })),
    waits,
    pauses: waits
      .filter(({ cause }) => listedAsPause.has(cause))
      .map((wait) => ({ what: wait.what, why: whyWords(wait, now), since: wait.since, until: wait.until })),
    expectations,
    deaf_targets: deafTargets,
    fleet,
  };
}

/** Causes that `pauses` of the document lists; `waits` has all. */
const listedAsPause: ReadonlySet<WaitCause> = new Set<WaitCause>([
  ...(['key', 'account', 'service', 'upload host', 'machine'] as const),
  ...(['paused', 'unanswered creates', 'upload window'] as const),
]);
