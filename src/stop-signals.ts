/** SIGTERM, SIGINT and SIGHUP as two requests to stop: the first to finish, the second to leave. */
export interface StopSignals {
  /** From now on these signals fire the requests below; until then they end the process, as usual. */
  takeOver(): void;
  /** Fires at the first. */
  readonly stopping: AbortSignal;
  /** Fires at the second. The process then ends within a second, whatever hangs. */
  readonly hurrying: AbortSignal;
  /** SIGHUP calls back instead of stopping; the last callback wins. */
  onReload(callback: () => void): void;
  /** The command has ended: after a signal nothing may keep the process for longer than a second more. */
  commandEnded(): void;
}

/**
 * The limit of a stop after the first signal, with 45 s for uploads and 30 s for the answer to a request: nothing takes longer
 * unless it hangs.
 */
const longestStopMs = 90_000;

/** Of everything that was cut. Half of it is enough on a busy machine; the promise is a second. */
const longestCutMs = 900;

const names = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

export function createStopSignals(): StopSignals {
  const stopping = new AbortController();
  const hurrying = new AbortController();
  let received: NodeJS.Signals | null = null;
  let reload: (() => void) | null = null;

  const leaveWithin = (ms: number): void => {
    if (received === null) return;
    const signal = received;
    // This does not keep the process alive: without work it ends on its own, with its own exit code.
    setTimeout(() => endBy(signal), ms).unref();
  };
  const stop = (signal: NodeJS.Signals): void => {
    received = signal;
    if (!stopping.signal.aborted) {
      stopping.abort();
      return leaveWithin(longestStopMs);
    }
    hurrying.abort();
    leaveWithin(longestCutMs);
    // The system itself handles the next one, even if this program cannot.
    for (const name of names) process.removeAllListeners(name);
  };
  return {
    takeOver: () => {
      process.on('SIGTERM', stop).on('SIGINT', stop);
      process.on('SIGHUP', (signal) => (reload === null ? stop(signal) : reload()));
      // Node removes the handlers while it tears down, and a late signal would then kill a process that has stopped
      // cleanly.
      process.on('exit', () => process.exit());
    },
    stopping: stopping.signal,
    hurrying: hurrying.signal,
    onReload: (callback) => {
      reload = callback;
    },
    commandEnded: () => leaveWithin(longestCutMs),
  };
}

/**
 * Ends this process as the signal does without a handler. Not `process.exit`: it waits for every thread, and one that
 * reads from a mount whose server is gone does not return (measured). The ledger is always consistent.
 */
function endBy(signal: NodeJS.Signals): void {
  for (const name of names) process.removeAllListeners(name);
  process.kill(process.pid, signal);
}
