/** Turns SIGTERM, SIGINT and SIGHUP into two requests to stop: the first to finish, the second to abort. */
export interface StopSignals {
  /** Makes these signals fire the requests below. Until then they end the process, as usual. */
  takeOver(): void;
  /** Fires at the first signal. */
  readonly stopping: AbortSignal;
  /** Fires at the second signal. The process then ends within a second, even if something hangs. */
  readonly hurrying: AbortSignal;
  /** Makes SIGHUP call back instead of stopping; the last callback wins. */
  onReload(callback: () => void): void;
  /** Reports that the command has ended. If a signal was received, the process ends within a second. */
  commandEnded(): void;
}

/**
 * Time limit for a stop after the first signal, in milliseconds. Uploads get 45 s and the response to a request 30 s,
 * so anything slower is hung.
 */
const longestStopMs = 90_000;

/**
 * Time limit after everything was aborted, in milliseconds. Half of it suffices on a busy machine; the promise is one
 * second.
 */
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
    // The timer does not keep the process alive: without work it ends on its own, with its own exit code.
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
    // Leaves the next signal to the kernel, which works even if this program is stuck.
    for (const name of names) process.removeAllListeners(name);
  };
  return {
    takeOver: () => {
      process.on('SIGTERM', stop).on('SIGINT', stop);
      process.on('SIGHUP', (signal) => (reload === null ? stop(signal) : reload()));
      // Node removes the handlers during teardown, and a late signal would then kill a process that has stopped
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
 * Ends this process as the signal would without a handler. `process.exit` would wait for every thread, and one that is
 * reading from a mount whose server is gone does not return (measured). The ledger is always consistent.
 */
function endBy(signal: NodeJS.Signals): void {
  for (const name of names) process.removeAllListeners(name);
  process.kill(process.pid, signal);
}
