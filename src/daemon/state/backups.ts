import type { Ledger } from '../../ledger/ledger.ts';
import type { Logger } from '../../log/logger.ts';

/** Between two copies of the ledger, in milliseconds. */
const backupEveryMs = 15 * 60_000;

/** Copies the ledger from time to time. */
export interface Backups extends AsyncDisposable {
  /** Copies it now. A copy that fails is logged: it is no reason to stop work. */
  run(): Promise<void>;
}

export function startBackups(ledger: Pick<Ledger, 'backUp'>, logger: Logger): Backups {
  let last: Promise<void> = Promise.resolve();
  const run = async (): Promise<void> => {
    try {
      await ledger.backUp();
    } catch (error) {
      logger.error('The ledger could not be backed up', { err: error });
    }
  };
  const timer = setInterval(() => {
    last = run();
  }, backupEveryMs);
  return {
    run,
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await last;
    },
  };
}
