/** Ctrl-Z and `fg`, for a command that has changed the modes of the terminal. */
export interface Suspension extends Disposable {
  /**
   * Stops this process and those that it shares the terminal with, as Ctrl-Z does while the terminal has its usual
   * modes.
   */
  suspend(): void;
}

/** The system stops a process at once; one that no shell could continue is not stopped at all. */
const stoppedWithinMs = 50;

/**
 * @param leave before the process stops
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
