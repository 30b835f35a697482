import { randomBytes } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { serviceOf } from '../config/installed-service.ts';
import { openFailureLog } from '../ledger/failure-log.ts';
import { openLedger } from '../ledger/ledger.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { openReceipts } from '../ledger/receipts.ts';
import type { Logger } from '../log/logger.ts';
import { createConductor } from '../pipeline/conductor.ts';
import type { Conductor, ConductorSettings } from '../pipeline/conductor.ts';
import { createIntake } from '../intake/intake.ts';
import type { Intake } from '../intake/intake.ts';
import type { Clock } from '../pipeline/file/ports.ts';
import { createRows } from '../pipeline/file/rows.ts';
import type { Rows } from '../pipeline/file/rows.ts';
import { createBandwidth, createVideoClient } from '@dropcast/client';
import type { VideoClient } from '@dropcast/client';
import type { BudgetWindow } from '../host/budget-window.ts';
import { createGate } from '../host/gate.ts';
import type { Gate } from '../host/gate.ts';
import { budgetOf, clientGateOf } from '../host/request-gate.ts';
import { admitWebhook } from '../host/admit-webhook.ts';
import type { Admission, Webhook } from '../host/admit-webhook.ts';
import { createSummary } from './summary.ts';
import type { Summary } from './summary.ts';
import { createFolders } from '../intake/folders.ts';
import type { Folders } from '../intake/folders.ts';
import { createVideoHost } from '../host/video-host.ts';
import { howToRenewKey } from './renew-key.ts';
import { lockInstance } from './instance-lock.ts';
import { uploadSource } from '../disk/accepted-file.ts';
import { failureOfFile } from '../disk/failure.ts';
import { createLocalFiles, isThere } from '../disk/local-files.ts';
import { createEventStream } from './events.ts';
import { logEvents } from './log-events.ts';
import { requireOwnState } from './state-owner.ts';

/** The running daemon: everything that works on files, without any way to talk to it. */
export interface Daemon extends AsyncDisposable {
  readonly startedAt: number;
  readonly ledger: Ledger;
  readonly conductor: Conductor;
  readonly rows: Pick<Rows, 'isHeld'>;
  readonly folders: Folders;
  readonly gate: Gate;
  config(): Config;
  /** Takes over a configuration that was checked. Files in flight keep their rule. */
  reload(config: Config): Promise<void>;
  /** A webhook arrived: one that is signed makes it ask the service soon, and is not believed in anything else. */
  receive(webhook: Webhook): Admission;
  /** How it goes, in numbers: cheap. */
  summary(): Promise<Summary>;
  /** True when nothing is left to do. */
  isIdle(): Promise<boolean>;
  /** Lets what runs finish until the signal fires, then cuts it; ends with all facts on disk. */
  stop(hurry: AbortSignal): Promise<void>;
}

/** Between two copies of the ledger. */
const backupMs = 15 * 60_000;

export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };

/**
 * The composition root: builds every part from a checked configuration, in order, and starts them. Resolves when all work,
 * while the folders are still scanned for the first time.
 *
 * @throws {AlreadyRunningError} @throws {LedgerError}
 */
export async function startDaemon(initial: Config, logger: Logger, clock: Clock = systemClock): Promise<Daemon> {
  await using stack = new AsyncDisposableStack();
  let config = initial;
  stack.use(await lockInstance(config.stateDir));
  await requireOwnState(config);
  const ledger = stack.use(await openLedger(config.stateDir));
  const receipts = stack.use(await openReceipts(config.stateDir));
  const failures = stack.use(await openFailureLog(config.failureLog, (error) => conductor.broke('failure log', error)));
  const gate = stack.use(
    createGate({
      store: {
        load: async () => (await ledger.budget.load()) as BudgetWindow | null,
        save: (spent) => ledger.budget.save(spent),
      },
      limit: config.service.requestsPerHour,
      now: () => clock.now(),
    }),
  );
  const bandwidth = createBandwidth(config.uploads.bytesPerSecond);
  const connect = (): VideoClient =>
    createVideoClient({
      baseUrl: config.service.baseUrl,
      apiKey: config.service.apiKey.reveal(),
      sendKeyTo: config.service.sendKeyTo,
      // The machine decides what is tried again, with the answer in the ledger.
      maxRetries: 0,
      requestGate: clientGateOf(gate),
      bandwidth,
      onResponse: (note) => logger.debug('A request ended', { ...note }),
    });
  let service = connect();
  stack.defer(() => service[Symbol.asyncDispose]());
  const hosted = createVideoHost({
    client: () => service,
    sourceOf: uploadSource,
    failureOfFile,
    stallTimeoutMs: () => config.uploads.stallTimeoutMs,
    howToRenewKey: () => howToRenewKey(config),
  });
  // The folders need the intake and the local files need the folders: each looks the other up when it is asked.
  const local = createLocalFiles((folder, missing) => folders.whyAway(folder, missing), serviceOf(config.file));
  const events = createEventStream(logger);
  events.listen(logEvents(logger));
  const rows = createRows({ store: ledger, events });
  const conductor = createConductor(
    {
      store: ledger,
      rows,
      host: hosted,
      library: hosted,
      local,
      budget: budgetOf(gate),
      receipts,
      events,
      clock,
      logger,
      newToken: () => randomBytes(16).toString('hex'),
    },
    settingsOf(config),
  );
  events.listen((event) => {
    if (event.type === 'failure') failures.append(event.facts, event.failure, event.next);
  });
  events.listen((event) => {
    if (event.type === 'folder' && event.state !== 'frozen') conductor.folderBack(event.folder);
  });
  const intake: Intake = createIntake({
    store: ledger,
    rows,
    local,
    runner: conductor,
    clock,
    newId: () => `f_${randomBytes(6).toString('hex')}`,
    exists: isThere,
  });
  const folders: Folders = createFolders({
    config,
    intake,
    ledger,
    events,
    logger,
    broke: (error) => conductor.broke('intake', error),
    tookIn: () => conductor.tookIn(),
  });
  stack.use(folders);
  stack.use(backUpRegularly(ledger, logger));
  await folders.start();
  conductor.start();
  const parts = stack.move();

  let stopped: Promise<void> | null = null;
  const stop = async (hurry: AbortSignal): Promise<void> => {
    await folders[Symbol.asyncDispose]();
    await conductor.stop(hurry);
    if (!hurry.aborted) await backUp(ledger, logger);
    await parts.disposeAsync();
  };

  return {
    startedAt: clock.now(),
    ledger,
    conductor,
    rows,
    folders,
    gate,
    config: () => config,
    summary: createSummary({ ledger, events, conductor, folders, gate }),
    reload: async (next) => {
      const before = config;
      config = next;
      gate.setLimit(next.service.requestsPerHour);
      bandwidth.set(next.uploads.bytesPerSecond);
      conductor.change(settingsOf(next));
      const old = service;
      if (isOtherService(before, next)) service = connect();
      await folders.change(next);
      conductor.probeNow();
      // What it is doing may take hours; it ends with the daemon.
      if (old !== service) parts.use(old);
    },
    receive: (webhook) => {
      const admission = admitWebhook(webhook, config.service.webhookSecret, clock.now());
      if (admission === 'taken') conductor.ring();
      logger.debug('A webhook arrived', { admission });
      return admission;
    },
    isIdle: async () => !folders.isSettling() && (await conductor.isIdle()),
    stop: (hurry) => (stopped ??= stop(hurry)),
    [Symbol.asyncDispose]: () => (stopped ??= stop(AbortSignal.abort())),
  };
}

function backUpRegularly(ledger: Ledger, logger: Logger): AsyncDisposable {
  let last: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    last = backUp(ledger, logger);
  }, backupMs);
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await last;
    },
  };
}

async function backUp(ledger: Ledger, logger: Logger): Promise<void> {
  try {
    await ledger.backUp();
  } catch (error) {
    logger.error('The ledger could not be backed up', { err: error });
  }
}

function settingsOf(config: Config): ConductorSettings {
  return {
    uploads: config.uploads.concurrency,
    retry: config.retry,
    poll: config.poll,
    publish: config.publish,
    requestsPerHour: config.service.requestsPerHour,
  };
}

function isOtherService(one: Config, other: Config): boolean {
  return (
    one.service.baseUrl !== other.service.baseUrl ||
    one.service.apiKey.reveal() !== other.service.apiKey.reveal() ||
    one.service.sendKeyTo.join('\n') !== other.service.sendKeyTo.join('\n')
  );
}
