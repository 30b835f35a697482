import type { LivePicture } from '../view/picture/picture.ts';
import type { Logger } from '../log/logger.ts';
import type { Notice, Notifier } from './notifier.ts';
import { keepAlive } from './notifier.ts';
import { filesIn } from '../view/stages.ts';
import { mainWait, waitWords } from '../view/waits.ts';

/** The daemon that the notifications describe. */
export interface WatchedDaemon {
  /** Folders whose first scan has not finished. A missing folder counts as scanned. */
  unscanned(): readonly string[];
  picture(): Promise<LivePicture>;
  /** Returns the number of running uploads. */
  uploads(): number;
  /** When the main loop last completed a turn, on the clock of `performance.now()`. */
  progressedAt(): number;
}

/**
 * Longest delay of `READY` for the first scans, in milliseconds: a dead share must not block `systemctl start` forever.
 */
const longestStartMs = 60_000;

/**
 * How long a stopping daemon asks for more time, in milliseconds. Uploads get 45 s; anything still running after this
 * limit is hung. All facts are on disk at all times, so systemd may then kill the daemon.
 */
const longestStopMs = 180_000;

/** Interval between checks for the end of the first scans, in milliseconds. */
const scanCheckMs = 100;

/**
 * How often to request more time, and how much: systemd stops a daemon that no longer asks. Requests never shorten the
 * unit's limits, and also extend the watchdog timeout (service_extend_timeout in systemd).
 */
const extendMs = 5_000;
const extension: Notice = { EXTEND_TIMEOUT_USEC: '15000000' };

/** Bounds of the interval between two status updates, in milliseconds. */
const statusMs = { least: 1_000, most: 5_000 };

/** The wait after an update, as a multiple of its duration: updates use at most 1 % of a core. */
const waitPerUpdate = 100;

/** Notifies systemd of the daemon's life cycle: start, ready, status and watchdog, stop. */
export class LifecycleNotifier implements Disposable {
  readonly #notifier: Notifier;
  readonly #logger: Logger;
  readonly #stopping: AbortSignal;
  readonly #onStop = (): void => this.#stop();
  /** Timers of the current phase: starting, working or stopping. */
  #phase = new DisposableStack();
  #daemon: WatchedDaemon | null = null;
  #status = '';

  /**
   * Reports the start immediately. The stop begins when `stopping` fires and lasts until disposal, so that it also
   * covers aborting uploads and the last backup of the ledger.
   *
   * @param notifier the connection to systemd; disposed with this one
   * @param options.stopping fires when the daemon begins to stop
   */
  constructor(notifier: Notifier, { logger, stopping }: { readonly logger: Logger; readonly stopping: AbortSignal }) {
    this.#notifier = notifier;
    this.#logger = logger;
    this.#stopping = stopping;
    this.#start();
    if (stopping.aborted) this.#stop();
    else stopping.addEventListener('abort', this.#onStop, { once: true });
  }

  /** Call once the daemon is running and responding. The daemon becomes ready when its folders have been scanned. */
  watch(daemon: WatchedDaemon): void {
    if (this.#stopping.aborted) return;
    this.#daemon = daemon;
    const phase = this.#start();
    const deadline = performance.now() + longestStartMs;
    const check = (): void => {
      const folders = daemon.unscanned();
      if (folders.length > 0 && performance.now() < deadline) return;
      if (folders.length > 0) this.#logger.warn('Ready, but some folders are not scanned yet', { folders });
      this.#work(daemon);
    };
    phase.use(every(scanCheckMs, check));
    check();
  }

  [Symbol.dispose](): void {
    this.#stopping.removeEventListener('abort', this.#onStop);
    this.#phase.dispose();
    this.#notifier[Symbol.dispose]();
  }

  #start(): DisposableStack {
    const phase = this.#enterPhase();
    this.#send(startingText, extension);
    phase.use(this.#extendTime(longestStartMs));
    return phase;
  }

  #work(daemon: WatchedDaemon): void {
    const phase = this.#enterPhase();
    this.#send(this.#status, { READY: '1' });
    const { watchdogMs: intervalMs } = this.#notifier;
    if (intervalMs !== null) {
      const progressedAt = (): number => daemon.progressedAt();
      phase.use(keepAlive({ notifier: this.#notifier, logger: this.#logger, intervalMs, progressedAt }));
    }
    const update = async (): Promise<void> => {
      const status = statusText(await daemon.picture());
      // The stop may have begun in the meantime.
      if (!phase.disposed) this.#send(status);
    };
    phase.use(
      repeat(() => update().catch((error: unknown) => this.#logger.debug('Cannot read the status', { err: error }))),
    );
  }

  #stop(): void {
    const phase = this.#enterPhase();
    const text = (): string => stoppingText(this.#daemon?.uploads() ?? 0);
    this.#send(text(), { STOPPING: '1', ...extension });
    phase.use(every(statusMs.least, () => this.#send(text())));
    phase.use(this.#extendTime(longestStopMs));
  }

  #enterPhase(): DisposableStack {
    this.#phase.dispose();
    return (this.#phase = new DisposableStack());
  }

  /** Sends the status if it has changed or there is other news. */
  #send(status: string, news: Notice = {}): void {
    if (status === this.#status && Object.keys(news).length === 0) return;
    this.#status = status;
    this.#notifier.send({ ...news, STATUS: status });
  }

  #extendTime(longestMs: number): Disposable {
    const deadline = performance.now() + longestMs;
    return every(extendMs, () => performance.now() < deadline && this.#notifier.send(extension));
  }
}

function every(ms: number, act: () => unknown): Disposable {
  const timer = setInterval(act, ms);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Repeats one update at a time; longer updates are followed by longer waits. */
function repeat(update: () => Promise<void>): Disposable {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const turn = async (): Promise<void> => {
    const began = performance.now();
    await update();
    const waitMs = waitPerUpdate * (performance.now() - began);
    if (!isOver) timer = setTimeout(() => void turn(), Math.min(Math.max(waitMs, statusMs.least), statusMs.most));
  };
  void turn();
  return {
    [Symbol.dispose]: () => {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

/** Status until every folder's first scan has finished. */
export const startingText = 'Scanning the folders';

/**
 * Summarises the picture in one line, for `systemctl status`: `12 queued · 3 uploading · 1 needs you · API 412/1000`.
 * Omits zeros.
 *
 * @param now epoch milliseconds
 */
export function statusText(
  { stages, retrying, counts, waits, needs_you: { files: needsYou }, budget }: LivePicture,
  now = Date.now(),
): string {
  const frozen = waits.filter(({ cause }) => cause === 'folder').length;
  const missing = part(frozen, frozen === 1 ? 'folder frozen' : 'folders frozen');
  const wait = mainWait(waits, filesIn(stages, 'queued'));
  if (wait !== null) return [waitWords(wait, now), ...missing].join(' · ');
  const onTheWay = stages.filter(({ name }) => name !== 'live');
  const working = onTheWay.flatMap(({ name, files, retrying: resuming }) => part(files + resuming, name));
  const again = retrying.files === 0 ? '' : ` (${retrying.files} retrying)`;
  return [
    ...(working.length > 0 ? [`${working.join(' · ')}${again}`] : ['Idle', ...part(counts['done'] ?? 0, 'done')]),
    ...part(needsYou, needsYou === 1 ? 'needs you' : 'need you'),
    ...missing,
    `API ${budget.used}/${budget.limit}`,
  ].join(' · ');
}

/** Status while the daemon is stopping: how many uploads it is waiting for. */
export function stoppingText(uploads: number): string {
  if (uploads === 0) return 'Stopping';
  return `Stopping: waiting for ${uploads} ${uploads === 1 ? 'upload' : 'uploads'}`;
}

function part(count: number, words: string): string[] {
  return count > 0 ? [`${count} ${words}`] : [];
}
