import type { Facts } from '../pipeline/file/facts.ts';
import { stateOf } from '../pipeline/file/facts.ts';
import type { Failure } from '../pipeline/file/failure.ts';
import { openRotatedLog } from './append-log.ts';

/** `failures.jsonl`: one line for each failure (design section 8). */
export interface FailureLog extends AsyncDisposable {
  append(facts: Facts, failure: Failure, next: string): Promise<void>;
}

/**
 * @param path of a file that may be rotated away at any time
 * @throws {LedgerError} when it cannot be written to
 */
export async function openFailureLog(path: string): Promise<FailureLog> {
  const log = await openRotatedLog(path);
  return {
    append: (facts, failure, next) =>
      log.append({
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
      }),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}
