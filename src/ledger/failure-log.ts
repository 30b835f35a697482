import { errnoOf } from '../errno.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { stateOf } from '../pipeline/file/facts.ts';
import type { Failure } from '../pipeline/file/failure.ts';
import { linkInstead, openRotatedLog } from './append-log.ts';

/** `failures.jsonl`: one line per failure (design section 8). Closing waits for the lines on their way to disk. */
export interface FailureLog extends AsyncDisposable {
  /**
   * Never throws and does not wait, so a listener may call it. Lines keep the order of the calls. The row is written
   * first, then the line (docs/decisions/0016): a crash in between loses the line, not the failure, which the row and
   * its history have. In the opposite order, a slow or full disk would stop every step, and a line could report what no
   * row says.
   * @param next what happens to the file now, in words
   */
  append(facts: Facts, failure: Failure, next: string): void;
}

/**
 * @param path of a file that may be rotated at any time
 * @param report called with the error of the file system when lines cannot be written, once per cause until writing
 *   works again. A symbolic link in its place is reported at once and does not stop work
 * @throws {LedgerError} when it cannot be opened for another reason
 */
export async function openFailureLog(path: string, report: (error: unknown) => void): Promise<FailureLog> {
  const log = await openRotatedLog(path);
  let reported: string | null = null;
  const written = (): void => {
    reported = null;
  };
  const refused = (error: unknown): void => {
    const cause = errnoOf(error);
    if (cause !== reported) report(error);
    reported = cause;
  };
  const link = await linkInstead(path);
  if (link !== null) refused(link);
  return {
    append: (facts, failure, next) => {
      log
        .append({
          v: 1,
          at: new Date().toISOString(),
          id: facts.id,
          file: `${facts.folder}/${facts.path}`,
          state: stateOf(facts),
          video_id: facts.videoId,
          class: failure.kind,
          status: failure.status ?? null,
          code: failure.code,
          message: failure.message,
          attempt: facts.attempts,
          next,
        })
        .then(written, refused);
    },
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}
