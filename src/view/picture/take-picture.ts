import type { FolderStatus } from '../../intake/folder-status.ts';
import type { DropcastEvent } from '../../pipeline/events.ts';
import type { Clock } from '../../pipeline/file/ports.ts';
import { sumOfAccounts } from '../../watch/inventory.ts';
import { viewAt } from '../files/file-view.ts';
import { fleetStatusOf } from '../hosts/host-view.ts';
import { outlookOf } from '../outlook.ts';
import type { StepCounts } from '../stages.ts';
import { momentOf, type ViewedDaemon } from '../viewed-daemon.ts';
import { briefly, pausedBy, pauseWords, stopOf } from '../waits.ts';
import type { BudgetView, DeafTargetView, LivePicture, Picture } from './picture.ts';
import { mostListed, readRows, type PictureLedger, type RowsRead } from './read-rows.ts';
import { countUnmet, sentenceOf, sentenceWithoutDaemon } from '../words/picture-words.ts';
import { moreUnderWay, nowFile, stagesOf, underWay } from './stages.ts';
import { createDay, createFeedTimes, createPassed } from './tallies.ts';

/** Maximum number of rows listed when all are requested. They take several hundred kilobytes. */
export const mostOfAll = 1_000;

/** Maximum number of history lines searched for the hour before the start. */
const mostLines = 5_000;

/**
 * Rows are cached for this multiple of their read time, so that reading them takes at most one twentieth of a core,
 * however many clients ask.
 */
const restFactor = 20;
const leastRestMs = 400;

/** The picture of an installation that has never done anything. */
export const emptyPicture: Picture = {
  at: 0,
  daemon: { running: false, pid: null, started_at: null },
  config: null,
  fleet: null,
  sentence: sentenceWithoutDaemon({ needsYou: 0, isFleet: false }),
  waits: [],
  paused: [],
  waiting: null,
  unknown: [],
  counts: {},
  settling: 0,
  stages: [],
  retrying: { files: 0, next_at: null },
  outlook: null,
  uploads: null,
  budget: null,
  needs_you: { files: 0, causes: [], more: { causes: 0, files: 0 } },
  needing: [],
  working: [],
  now: { files: [], more: 0 },
  day: { slots: [], done: 0, failed: 0, bytes: 0, today: { done: 0, failed: 0, bytes: 0 } },
  feeds: [],
  folders: [],
  accounts: sumOfAccounts([]),
  expectations: [],
  deaf_targets: [],
  suspects: 0,
  adoption: { files: 0, compared: 0, comparing: null },
  deletions: { files: 0, next_at: null },
  creates_wait_until: null,
};

export interface TakePicture {
  /**
   * Takes a picture. Rejects when the ledger cannot be read.
   *
   * @param how.isFresh read the ledger even if it was read a moment ago
   * @param how.listed maximum number of rows that need a person, and of paths per folder
   */
  (how?: { readonly isFresh?: boolean; readonly listed?: number }): Promise<LivePicture>;
  /** Whether a picture taken since the last call was stale, and one taken now would not be. */
  wasBehind(): boolean;
}

/**
 * Takes pictures of the daemon. The ledger is read only after a row was written, and at a limited rate while rows are
 * written constantly. Upload progress is in memory and always current.
 */
export function createPictures(
  daemon: ViewedDaemon,
  {
    events,
    clock,
  }: { readonly events: { listen(listener: (event: DropcastEvent) => void): unknown }; readonly clock: Clock },
): TakePicture {
  const { ledger } = daemon;
  const passed = createPassed(clock);
  const day = createDay(ledger);
  const feeds = createFeedTimes(ledger);
  let written = 0;
  let readBefore: Promise<void> | null = null;
  let kept: { readonly key: string; readonly until: number; readonly rows: RowsRead } | null = null;
  let behindUntil: number | null = null;
  events.listen((event) => {
    if (event.type === 'file' || event.type === 'elsewhere') written += 1;
    passed.told(event);
    day.told(event);
    feeds.told(event, clock.now());
  });

  const read = async (isFresh: boolean, listed: number): Promise<RowsRead> => {
    const startedAt = clock.elapsed();
    // Taken before the read, so that rows written during the read are read next time.
    const key = `${written} ${daemon.rows.held().join()}`;
    if (!isFresh && kept !== null && (kept.key === key || startedAt < kept.until)) {
      if (kept.key !== key) behindUntil ??= kept.until;
      return kept.rows;
    }
    const rows = await readRows(ledger, daemon, listed);
    const tookMs = clock.elapsed() - startedAt;
    kept = { key, rows, until: startedAt + Math.max(leastRestMs, restFactor * tookMs) };
    return rows;
  };

  const hourBefore = async (): Promise<void> => {
    const lines = await ledger.latestLines(mostLines);
    passed.before(lines.filter(({ at }) => at < daemon.startedAt));
  };

  const take = async ({
    isFresh = false,
    listed = mostListed,
  }: Parameters<TakePicture>[0] = {}): Promise<LivePicture> => {
    await (readBefore ??= hourBefore());
    const rows = await read(isFresh, listed);
    const at = clock.now();
    return compose(daemon, rows, {
      at,
      listed,
      passed: (state) => passed.of(state),
      paused: await ledger.pauses(),
      day: await day.view(at),
      feeds: await feeds.views(daemon.config(), daemon.conductor.feedsWaiting()),
      deaf_targets: await deafTargets(daemon),
      fleet: daemon.fleet === null ? null : await fleetStatusOf(daemon.fleet, ledger),
    });
  };
  const wasBehind = (): boolean => {
    if (behindUntil === null || clock.elapsed() < behindUntil) return false;
    behindUntil = null;
    return true;
  };
  return Object.assign(take, { wasBehind });
}

/** Takes the picture while no daemon is running. @param how.listed maximum number of rows that need a person */
export async function pictureWithoutDaemon(
  ledger: PictureLedger,
  { listed = mostListed }: { readonly listed?: number } = {},
): Promise<Picture> {
  const at = Date.now();
  const rows = await readRows(ledger, null, listed);
  const paused = await ledger.pauses();
  const { fleet = null } = ledger;
  const day = await createDay(ledger).view(at);
  return {
    ...emptyPicture,
    ...rows.shown,
    at,
    fleet: fleet && (await fleetStatusOf(fleet, ledger)),
    sentence: sentenceWithoutDaemon({ needsYou: rows.shown.needs_you.files, isFleet: fleet !== null }),
    waits: pausedBy(paused, at),
    paused,
    stages: stagesOf({
      ...rows.snapshot,
      settling: 0,
      counts: { ...rows.shown.counts, done: day.done },
      passed: () => 0,
      outlook: { limited_by: 'nothing', why: '', done_at: null },
    }),
    day,
  };
}

interface Found extends Pick<Picture, 'at' | 'paused' | 'day' | 'feeds' | 'deaf_targets' | 'fleet'> {
  /** Maximum number of rows, and of paths per folder, listed. */
  readonly listed: number;
  /** Returns how many files entered a state within the last hour. */
  readonly passed: (state: string) => number;
}

function compose(daemon: ViewedDaemon, rows: RowsRead, { passed, listed, ...found }: Found): LivePicture {
  const { conductor, times } = daemon;
  const { snapshot, shown, asShown } = rows;
  const { counts } = shown;
  const { at, day } = found;
  const pause = conductor.pause() ?? conductor.createsPauses().find(({ channel }) => channel === undefined) ?? null;
  const settling = daemon.folders.countSettling();
  const folders = foldersOf(daemon, asShown, listed);
  const expectations = daemon.expectations.list();
  const outlook = outlookOf(daemon, rows.waiting, at);
  const moment = momentOf(daemon, snapshot.held);
  const stop = stopOf(moment.waits);
  const under = underWay(snapshot);
  const nextPollAt = conductor.nextPollAt();
  return {
    ...shown,
    ...found,
    daemon: { running: true, pid: process.pid, started_at: daemon.startedAt },
    config: daemon.config().file,
    waits: moment.waits,
    waiting: pause && { kind: pause.kind, why: pause.why, since: pause.since, next_probe_at: pause.nextProbeAt },
    unknown: conductor.names.unknown(),
    settling,
    stages: stagesOf({
      settling,
      counts: { ...counts, done: day.done },
      working: snapshot.working,
      held: snapshot.held,
      retrying: snapshot.retrying,
      passed,
      outlook,
    }),
    outlook,
    uploads: { bytes_per_second: times.limit(), until: times.limitUntil(), start_at: times.startAt() },
    budget: budgetOf(daemon, at),
    now: {
      files: under.map((facts) => nowFile(viewAt(moment, facts), nextPollAt)),
      more: moreUnderWay(counts, under.length),
    },
    folders,
    accounts: sumOfAccounts(folders.map(({ accounts }) => accounts)),
    expectations,
    adoption: { ...shown.adoption, comparing: conductor.comparison() },
    creates_wait_until: conductor.createsWaitUntil(),
    sentence: sentenceOf({
      ...workIn(counts, settling),
      stopped: stop && briefly(stop),
      needsYou: shown.needs_you.files,
      frozenFolders: folders.filter(({ state }) => state === 'frozen').length,
      unmet: countUnmet(expectations),
      today: day.today,
    }),
  };
}

function workIn(counts: Picture['counts'], settling: number) {
  const of = (...states: readonly string[]): number => states.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  return {
    uploading: of('uploading'),
    waiting: settling + of('queued', 'creating', 'awaiting upload'),
    following: of('processing', 'awaiting publish') - of('without feed'),
    retrying: of('retrying') - of('without channel'),
    live: of('done'),
  };
}

function budgetOf({ gate }: ViewedDaemon, now: number): BudgetView {
  const { used, limit, others, total, blockedUntil, reported, frees } = gate.snapshot();
  return {
    used,
    limit,
    others,
    total,
    blocked_until: blockedUntil > now ? blockedUntil : null,
    reported: reported && { left: reported.left, until: Math.round(now + reported.inMs) },
    frees: frees.slice(0, 60).map(([inMs, requests]) => ({ at: Math.round(now + inMs), requests })),
  };
}

/** @param listed maximum number of unselected files listed per folder */
function foldersOf(daemon: ViewedDaemon, asShown: StepCounts, listed: number): readonly FolderStatus[] {
  return daemon.folders.status().map((folder) => {
    const held = daemon.pauses.holds(folder.path);
    return {
      ...folder,
      why: folder.why ?? (held && pauseWords(held, Date.now())),
      left_out: { ...folder.left_out, paths: folder.left_out.paths.slice(0, listed) },
      accounts: { ...folder.accounts, known: asShown(folder.accounts.known, folder.path) },
    };
  });
}

/** Counts the waiting messages in the ledger only when a target accepts none. */
async function deafTargets({ messageTargets, ledger }: ViewedDaemon): Promise<readonly DeafTargetView[]> {
  const deaf = messageTargets.deaf();
  if (deaf.length === 0) return [];
  const waiting = await ledger.news.countWaiting();
  return deaf.map((each) => ({ ...each, waiting: waiting.get(each.name) ?? 0 }));
}
