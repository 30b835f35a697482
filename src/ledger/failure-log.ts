import { errnoOf } from '../errno.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { stateOf } from '../pipeline/file/facts.ts';
import type { Failure } from '../pipeline/file/failure.ts';
import { linkInstead, openRotatedLog } from './append-log.ts';

/** `failures.jsonl`: one line per failure (design section 8). Closing waits for pending lines. */
export interface FailureLog extends AsyncDisposable {
  /**
   * Appends a line in call order. Never throws and does not wait, so a listener may call it. The row is written before
   * the line (docs/decisions/0016): a crash in between loses the line but not the failure, which is in the row and its
   * history. In the opposite order, a slow or full disk would stop every step, and a line could report something that
   * no row contains.
   * @param next what happens to the file now, in words
   */
  append(facts: Facts, failure: Failure, next: string): void;
}

/**
 * Opens the log of failures.
 *
 * @param path of a file that may be rotated at any time
 * @param report called with the file system's error when lines cannot be written, once per cause until writing works
 *   again. A symbolic link at the path is reported immediately and does not stop work
 * @throws {LedgerError} if the file cannot be opened for another reason
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
