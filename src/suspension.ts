/** Handles Ctrl-Z and `fg` for a command that has changed the terminal modes. */
export interface Suspension extends Disposable {
  /** Stops this process and the others in its process group, as Ctrl-Z does in the usual terminal modes. */
  suspend(): void;
}

/**
 * Time to wait for the stop, in milliseconds. The kernel stops a process immediately, or not at all if no shell could
 * continue it.
 */
const stoppedWithinMs = 50;

/**
 * @param leave called before the process stops
 * @param comeBack called when it resumes; may be called twice
 */
export function aroundSuspension(leave: () => void, comeBack: () => void): Suspension {
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    leave();
    process.off('SIGTSTP', stop);
    process.kill(process.pid, 'SIGTSTP');
    timer = setTimeout(() => {
      process.on('SIGTSTP', stop);
      comeBack();
    }, stoppedWithinMs);
  };
  process.on('SIGTSTP', stop).on('SIGCONT', comeBack);
  return {
    suspend: () => process.kill(0, 'SIGTSTP'),
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      process.off('SIGTSTP', stop).off('SIGCONT', comeBack);
    },
  };
}
