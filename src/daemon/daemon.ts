import type { Config } from '../config/config.ts';
import { namesUsed } from '../config/unknown-names.ts';
import { type Admission, type Webhook, createWebhookDoor } from '../host/admit-webhook.ts';
import type { Gate } from '../host/gate.ts';
import { type Audit, startAudit } from './audit.ts';
import { createLinkFiles } from './link-files.ts';
import { startExports } from './exports.ts';
import { createFeedLinks } from '../host/feed-links.ts';
import type { Folders } from '../intake/folders.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { LogFields, Logger } from '../log/logger.ts';
import type { Answer, Clock, Turn } from '../pipeline/file/ports.ts';
import type { Rows } from '../pipeline/file/rows.ts';
import { isLedgerAway } from '../pipeline/file/store-errors.ts';
import { aborted } from '../pipeline/wake-up.ts';
import type { NamesOfService } from '../pipeline/service-names.ts';
import type { Fleet } from '../view/hosts/fleet-view.ts';
import { earliestWorld, restedLines } from '../view/outlook.ts';
import { earliestOf } from '../pipeline/earliest.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { createDeadlines } from './expectations/deadlines.ts';
import { type TakePicture, createPictures } from '../view/picture/take-picture.ts';
import type { ViewedDaemon } from '../view/viewed-daemon.ts';
import { type Wait, waitsOf } from '../view/waits.ts';
import type { FolderClaimant } from '../watch/root-mark.ts';
import { folderOwner } from '../watch/root-owner.ts';
import { assemble, settingsOf } from './assemble.ts';
import { checkNames } from './check-names.ts';
import { type EventStream, createEventStream } from './events.ts';
import { createExpectations, tellExpectation } from './expectations/expectations.ts';
import { logEvents } from './log-events.ts';
import { type MessageTargets, createMessageTargets } from './message-targets.ts';
import { MOST_LINES, type NewsLines, createEventKeeper, createNewsLines } from './news/lines.ts';
import { pastLines, shownHost } from './news/past-lines.ts';
import { startRequestDays } from './request-days.ts';
import { connectToService } from './service-connection.ts';
import { markCounter, openState } from './state/open-state.ts';

/** The running daemon: everything that works on files. Excludes the sockets, the status page and signal handling. */
export interface Daemon extends ViewedDaemon, AsyncDisposable {
  /** Files that steps are working on, on all hosts of a fleet. */
  readonly rows: Pick<Rows, 'isHeld' | 'held' | 'claim'>;
  /** The other hosts that share the ledger; null: not shared. */
  readonly fleet: Fleet | null;
  readonly folders: Folders;
  readonly gate: Pick<Gate, 'snapshot' | 'take' | 'waitedMs'>;
  readonly events: Pick<EventStream, 'listen'>;
  /** Recent news in words. */
  readonly news: NewsLines;
  /** The comparison of disk, ledger and service. */
  readonly audit: Audit;
  /** Delivery results of the notification targets. */
  readonly messageTargets: MessageTargets;
  /** Asks the service that a configuration names for its channels and feeds. */
  namesOf(config: Config, signal: AbortSignal): Promise<Answer<NamesOfService>>;
  /**
   * Applies a checked configuration. Files already in progress keep their rule.
   *
   * @param names the service's channels and feeds; null when it did not answer
   */
  reload(config: Config, names?: NamesOfService | null): Promise<void>;
  /** Accepts a webhook. A signed one makes the daemon query the service soon; its contents are not trusted. */
  receive(webhook: Webhook): Admission;
  /** Takes a snapshot of everything, for every surface. */
  readonly picture: TakePicture;
  /** Whether no work is left. */
  isIdle(): Promise<boolean>;
  /** Lets running work finish until the signal fires, then aborts it. Resolves with all facts on disk. */
  stop(hurry: AbortSignal): Promise<void>;
  /** Whether this host does the work that only one host of a fleet may do. */
  readonly turn: Turn;
}

/** This machine's wall and monotonic clocks. */
export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };

/**
 * The composition root: builds every part from a checked configuration and starts it. Resolves once everything is
 * running, while the first scan of the folders is still in progress.
 *
 * @param built called when all parts exist and before any of them works on files, so that status requests can already
 *   be answered
 * @throws {AlreadyRunningError} another dropcast uses the state directory
 * @throws {UnknownNamesError} the service lacks a channel or feed that a rule names
 * @throws {LedgerError} the state directory or the ledger cannot be used
 */
export async function startDaemon(
  initial: Config,
  journal: Logger,
  clock: Clock = systemClock,
  built: (daemon: Daemon) => Promise<void> = async () => undefined,
): Promise<Daemon> {
  await using stack = new AsyncDisposableStack();
  const logger = withoutOutage(journal);
  const repaired = (what: string): void => logger.warn('Found damage in the state directory', { what });
  let config = initial;
  const state = await openState(config, stack, { config: () => config, clock, logger, repaired });
  const { ledger: own, sharing: turn } = state;
  const feedLinks = await createFeedLinks(own, (err) =>
    logger.warn('Cannot save where feeds are read; it is unknown after a restart', { err }),
  );
  const news = createNewsLines(clock, (err) => logger.error('A reader of events failed', { err }), {
    host: config.hostName,
    feedLinks,
    keep: createEventKeeper(own.keepEvents, (err) => logger.debug('Cannot store events yet', { err })),
  });
  const events = createEventStream(logger, news.rowOf);
  events.listen(logEvents(logger));
  events.listen(news.tell);
  news.precede(
    await pastLines(own, { host: shownHost(config), limit: MOST_LINES, now: clock.now() }).catch((err: unknown) => {
      logger.warn('Cannot read the events of earlier runs', { err });
      return [];
    }),
  );
  own.repairs.forEach(repaired);
  const service = stack.use(
    connectToService(config, { budget: state.budget, notes: own, feedLinks, events, clock, logger }),
  );
  const owner: FolderClaimant = {
    ...(await folderOwner(config.stateDir, own.id)),
    ledgerCounter: markCounter(own.counter, state.receipts),
    fleet: state.marks,
  };
  const isWatched = (folder: string): boolean => config.folders.some(({ path }) => path === folder);
  const parts = assemble(config, { ...state, owner, isWatched, service, events, clock, logger });
  const { folders } = parts;
  events.listen((event) => {
    if (event.type === 'failure') state.failures.append(event.facts, event.failure, event.next);
    if (event.type === 'folder') {
      // Steps in a frozen folder free their slots, so others can start.
      if (event.state === 'frozen') parts.conductor.wake();
      else parts.conductor.folderBack(event.folder);
    }
    if (event.type === 'file') folders.written(event);
    if (event.type === 'elsewhere') {
      folders.written({ before: null, facts: event.facts, isElsewhere: true });
      parts.conductor.heard(event.facts);
    }
  });
  stack.use(folders);
  const shown = { ledger: { ...own, lines: restedLines(own, clock) }, messageTargets: createMessageTargets() };
  const shared = stack.use(await turn.join({ ...parts, ...shown, gate: service.gate, events, news }));
  const { ledger, conductor } = shared;
  const backups = stack.use(startBackups(own, logger));
  const writing = { ledger: own, feedLinks, logger, hostName: config.ledger === null ? null : config.hostName };
  const linkFiles = await createLinkFiles({
    ...writing,
    rows: parts.rows,
    folders: () => config.folders,
    whyOffLimits: (folder) => folders.whyOffLimits(folder),
  });
  const exports = stack.use(startExports({ ...writing, linkFiles, events, exports: () => config.exports }));
  const audit = stack.use(
    startAudit({ ...parts, ledger: own, library: service.host, budget: service.budget, turn, clock, logger }),
  );
  stack.use(startRequestDays({ ledger: own, gate: service.gate, clock, logger }));

  const now = (): number => clock.now();
  const earliest = (due: readonly Facts[]) => earliestOf(due, earliestWorld(daemon, now()));
  const isReporter = (): boolean => turn.signal() !== null;
  const tellNews = tellExpectation({ news, logger, clock });
  const expectations = createExpectations({
    ledger: own,
    events,
    config: () => config,
    logger,
    now,
    earliest,
    deadlines: createDeadlines({ ledger, events, earliest, isReporter, now }),
    changed: (view) => {
      if (shared.reports(view.folder)) tellNews(view);
    },
  });
  const webhooks = createWebhookDoor();
  const begun = Promise.withResolvers<void>();
  const resources = stack.move();
  let stopped: Promise<void> | null = null;

  /** Stops in the order a file flows: refuses new files, finishes running steps, copies the ledger, closes everything. */
  const stopAll = async (hurry: AbortSignal): Promise<void> => {
    expectations[Symbol.dispose]();
    await folders[Symbol.asyncDispose]();
    await conductor.stop(hurry);
    if (!hurry.aborted) await Promise.race([exports.run(), aborted(hurry)]);
    if (!hurry.aborted) await backups.run();
    await resources.disposeAsync();
  };
  const stop = (hurry: AbortSignal): Promise<void> => (stopped ??= stopAll(hurry));

  const working = {
    startedAt: clock.now(),
    ledger,
    conductor,
    pauses: parts.conductor.pauses,
    rows: shared.rows,
    fleet: shared.fleet,
    folders,
    gate: service.gate,
    events,
    news,
    times: service.times,
    feedLinks,
    expectations,
    audit,
    messageTargets: shared.messageTargets,
    turn,
    config: () => config,
    namesOf: service.namesOf,
    waits: (): readonly Wait[] => waitsOf(daemon, clock.now()),
    isIdle: async () => !folders.isSettling() && (await conductor.isIdle()),
    reload: async (next: Config, names: NamesOfService | null = null) => {
      await begun.promise;
      config = next;
      service.change(next);
      conductor.names.change(namesUsed(next), names);
      conductor.change(settingsOf(next));
      await folders.change(next);
      void exports.run();
      conductor.probeNow();
    },
    receive: (webhook: Webhook): Admission => {
      const admission = webhooks.admit(webhook, config.service.webhooks, clock.now());
      if (admission === 'taken') conductor.ring();
      if (admission !== 'unread') logger.debug('A webhook arrived', { admission });
      return admission;
    },
    stop,
    [Symbol.asyncDispose]: () => stop(AbortSignal.abort()),
  };
  const daemon: Daemon = Object.assign(working, { picture: createPictures(working, { events, clock }) });
  await using unlessBegun = new AsyncDisposableStack();
  unlessBegun.use(daemon);
  await built(daemon);
  const named = checkNames(config, { conductor: parts.conductor, ledger: own, logger });
  // The rejection is handled where `named` is awaited below; the ledger check may take longer.
  named.catch(() => undefined);
  (await own.verify()).forEach(repaired);
  await named;
  news.add({ level: 'info', type: 'started', text: 'Daemon started' });
  await news.kept();
  shared.start(expectations);
  await parts.conductor.pauses.keep();
  await expectations.refresh();
  await folders.start();
  conductor.start();
  audit.start();
  void exports.run();
  begun.resolve();
  unlessBegun.move();
  return daemon;
}

/**
 * Wraps the logger of a fleet host: a database outage is reported once, and every failure it causes is logged at debug
 * level.
 */
export function withoutOutage(logger: Logger): Logger {
  const at =
    (level: keyof Logger) =>
    (message: string, fields: LogFields = {}): void =>
      logger[isLedgerAway(fields['err']) ? 'debug' : level](message, fields);
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}

/** Interval between two ledger copies, in milliseconds. */
const backupEveryMs = 15 * 60_000;

/** Copies the ledger at regular intervals. A failed copy is only logged, because work can continue without it. */
function startBackups(ledger: Pick<Ledger, 'backUp'>, logger: Logger) {
  let last: Promise<void> = Promise.resolve();
  const run = async (): Promise<void> => {
    try {
      await ledger.backUp();
    } catch (error) {
      logger.error('Cannot back up the ledger', { err: error });
    }
  };
  const timer = setInterval(() => {
    last = run();
  }, backupEveryMs);
  return {
    /** Copies the ledger now. */
    run,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      clearInterval(timer);
      await last;
    },
  };
}
