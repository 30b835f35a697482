import pLimit from 'p-limit';
import type { Logger } from '../log/logger.ts';
import { SLOW_RECHECK_MS, wait } from './completeness.ts';
import type { Complete, Wait } from './completeness.ts';
import type { CompleteFile } from './ports.ts';
import { ofFiles, Rejections } from './rejections.ts';
import type { WaitingFile } from './waiting-file.ts';

export interface HandOverOptions {
  readonly folder: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly complete: (file: CompleteFile) => Promise<void>;
  /** Whether the file still waits as it was judged; asked when its turn comes. */
  readonly isCurrent: (file: WaitingFile) => boolean;
}

/** Offers a file to the sink: `taken`, or how long to wait before the next look. Never rejects. */
export type HandOver = (file: WaitingFile, verdict: Complete) => Promise<'taken' | Wait>;

export function createHandOver({ folder, logger, signal, complete, isCurrent }: HandOverOptions): HandOver {
  const limit = pLimit(OFFERS_AT_ONCE);
  const rejections = new Rejections(folder, logger, ofFiles);
  return async (file, { flaw, isUnreadable }) => {
    const { path, kind, version } = file;
    file.why = 'being taken in';
    try {
      return await limit(async () => {
        // It may have waited long for its turn.
        if (!isCurrent(file)) return wait(0, null);
        await complete({ folder, path, kind, version, flaw, ...(isUnreadable && { isUnreadable }) });
        rejections.taken();
        return 'taken';
      });
    } catch (error) {
      if (signal.aborted) return wait(0, null);
      file.rejections += 1;
      const forMs = Math.min(1000 * 2 ** (file.rejections - 1), SLOW_RECHECK_MS);
      rejections.rejected(path, forMs, error);
      return wait(forMs, 'it could not be taken in; trying again soon');
    }
  };
}

const OFFERS_AT_ONCE = 16;
