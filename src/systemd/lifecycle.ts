import type { Brief } from '../daemon/brief.ts';
import type { Logger } from '../log/logger.ts';
import type { Notice, Notifier } from './notifier.ts';
import { startingText, statusText, stoppingText } from './status-text.ts';
import { keepAlive } from './watchdog.ts';

/** What is told of the daemon. */
export interface WatchedDaemon {
  /** The folders whose first scan is not over yet. One that is away counts as looked at. */
  unscanned(): readonly string[];
  brief(): Promise<Brief>;
  /** Uploads under way. */
  uploads(): number;
  /** When the working loop last turned, on the clock of `performance.now()`. */
  turnedAt(): number;
}

/** Tells systemd how the daemon gets on, from its start to its end. */
export interface LifecycleNotifier extends Disposable {
  /** The daemon works and can be asked: it is ready once it has looked through its folders. */
  watch(daemon: WatchedDaemon): void;
}

/** `READY` does not wait longer for the first scans: a dead share must not hold up `systemctl start` for ever. */
const longestStartMs = 60_000;

/**
 * No more time is asked for when the end takes longer: uploads have 45 s, and what then still goes on hangs. All facts are on
 * disk at any moment, so systemd may end it.
 */
const longestEndMs = 180_000;

/** Between two looks at whether the first scans are over. */
const startLookMs = 100;

/**
 * How often more time is asked for, and how much: a daemon that no longer says so is stopped after it. It never shortens what
 * the unit allows, and holds for the watchdog too (service_extend_timeout in systemd).
 */
const extendMs = 5_000;
const extension: Notice = { EXTEND_TIMEOUT_USEC: '15000000' };

/** Between two looks at the numbers: so long at least and at most. */
const statusMs = { least: 1_000, most: 5_000 };

/** A look is taken so much less often than it is long: at most 1 % of a core goes into it. */
const restPerLook = 100;

/**
 * Begins at once with the start; the end begins when `stopping` fires and lasts until it is disposed of, so that cutting uploads
 * and the last backup of the ledger have their time too.
 */
export function createLifecycleNotifier(
  notifier: Notifier,
  { logger, stopping }: { readonly logger: Logger; readonly stopping: AbortSignal },
): LifecycleNotifier {
  /** Timers of the present part: start, work, or end. */
  let part = new DisposableStack();
  let daemon: WatchedDaemon | null = null;
  let told = '';

  const enter = (): DisposableStack => {
    part.dispose();
    return (part = new DisposableStack());
  };
  const say = (status: string, news: Notice = {}): void => {
    if (status === told && Object.keys(news).length === 0) return;
    told = status;
    notifier.send({ ...news, STATUS: status });
  };

  /** Asks for more time again and again, so long at most. */
  const extend = (longestMs: number): Disposable => {
    const end = performance.now() + longestMs;
    return every(extendMs, () => performance.now() < end && notifier.send(extension));
  };

  const start = (): DisposableStack => {
    const starting = enter();
    say(startingText, extension);
    starting.use(extend(longestStartMs));
    return starting;
  };

  const work = (watched: WatchedDaemon): void => {
    const working = enter();
    say(told, { READY: '1' });
    const { watchdogMs: intervalMs } = notifier;
    if (intervalMs !== null)
      working.use(keepAlive({ notifier, logger, intervalMs, turnedAt: () => watched.turnedAt() }));
    const tell = async (): Promise<void> => {
      const status = statusText(await watched.brief());
      // It may be from before the end began.
      if (!working.disposed) say(status);
    };
    working.use(
      repeat(() => tell().catch((error: unknown) => logger.debug('The status cannot be told', { err: error }))),
    );
  };

  const stop = (): void => {
    const ending = enter();
    const text = (): string => stoppingText(daemon?.uploads() ?? 0);
    say(text(), { STOPPING: '1', ...extension });
    ending.use(every(statusMs.least, () => say(text())));
    ending.use(extend(longestEndMs));
  };

  start();
  if (stopping.aborted) stop();
  else stopping.addEventListener('abort', stop, { once: true });
  return {
    watch: (watched) => {
      if (stopping.aborted) return;
      daemon = watched;
      const starting = start();
      const end = performance.now() + longestStartMs;
      const look = (): void => {
        const folders = watched.unscanned();
        if (folders.length > 0 && performance.now() < end) return;
        if (folders.length > 0) logger.warn('Ready, although folders are still being looked through', { folders });
        work(watched);
      };
      starting.use(every(startLookMs, look));
      look();
    },
    [Symbol.dispose]: () => {
      stopping.removeEventListener('abort', stop);
      part.dispose();
      notifier[Symbol.dispose]();
    },
  };
}

function every(ms: number, act: () => unknown): Disposable {
  const timer = setInterval(act, ms);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** One after the other, the next one later the longer the last one took. */
function repeat(look: () => Promise<void>): Disposable {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const turn = async (): Promise<void> => {
    const began = performance.now();
    await look();
    const restMs = restPerLook * (performance.now() - began);
    if (!isOver) timer = setTimeout(() => void turn(), Math.min(Math.max(restMs, statusMs.least), statusMs.most));
  };
  void turn();
  return {
    [Symbol.dispose]: () => {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
