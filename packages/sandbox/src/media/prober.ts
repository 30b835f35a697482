import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { setTimeout as timeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { verdictOf, damaged, type Probe } from './media-report.ts';
import type { ThreadAnswer } from './media-info-thread.ts';

/**
 * Decides whether an uploaded file is a complete media file, and if not, why. It uses MediaInfo's report on the streams
 * and the findings of `@dropcast/media` on the file's end. Neither decodes anything; MediaInfo reads 256 MB at most.
 * Both run in a thread that loads MediaInfo (2.6 MB of WASM, some 80 ms) for the first file; after that, a file takes 2
 * to 30 ms. Files are probed one at a time. A thread that dies or exceeds the time limit is replaced, and its file
 * counts as damaged.
 *
 * Undetected truncations out of 200 at random positions per format: 0 for MP4, QuickTime, Matroska, WebM, WAV, AVI, AIFF
 * and FLAC; at most 4 for MPEG-PS, MP3, MPEG-TS, M2TS and MXF (after a whole pack, frame or packet, or in the padding at
 * the end); nearly all for Ogg and ADTS, which do not record their length.
 */
export class Prober implements AsyncDisposable {
  readonly #timeoutMs: number;
  readonly #closing = new AbortController();
  #thread: Promise<Worker> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** @param timeoutMs time after which a file counts as damaged, in ms, above 0 */
  constructor(timeoutMs = 10_000) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Probes a file. @throws if the file cannot be read or MediaInfo cannot be loaded; never because of the file's
   * content
   */
  probe(path: string): Promise<Probe> {
    const verdict = this.#last.then(() => this.#probe(path));
    this.#last = verdict.catch(() => undefined);
    return verdict;
  }

  /** Stops probing. Waiting and running probes reject with the reason, so that no caller mistakes it for a verdict. */
  close(reason: Error): void {
    this.#closing.abort(reason);
  }

  async #probe(path: string): Promise<Probe> {
    this.#closing.signal.throwIfAborted();
    const { size } = await stat(path);
    if (size === 0) return { isPlayable: false, code: 'empty_file', message: 'The uploaded file is empty.' };
    const thread = await this.#startedThread();
    const answer = await this.#ask(thread, path);
    if (answer.kind === 'report') return verdictOf(answer.report);
    this.#closing.signal.throwIfAborted();
    await this.#endThread(); // after a trap or in an endless loop its memory is in no known state
    return damaged('The file cannot be analysed.');
  }

  /** Starts the thread if needed. If it could not start, for lack of memory or files, the next probe tries again. */
  async #startedThread(): Promise<Worker> {
    this.#thread ??= startThread();
    try {
      return await this.#thread;
    } catch (error) {
      this.#thread = undefined;
      throw error;
    }
  }

  /** Asks the thread about a file. @returns an error also if the thread has died or does not answer in time */
  async #ask(thread: Worker, path: string): Promise<ThreadAnswer> {
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, this.#closing.signal]);
    // oxlint-disable-next-line require-post-message-target-origin -- a thread is not a window and has no origin
    thread.postMessage(path);
    try {
      return await Promise.race([
        once(thread, 'message', { signal }).then(([message]) => message as ThreadAnswer),
        once(thread, 'exit', { signal }).then(() => DIED),
        timeout(this.#timeoutMs, SILENT, { signal }),
      ]);
    } catch (error) {
      return { kind: 'error', message: String(error) }; // the 'error' event of the thread, out of memory for example
    } finally {
      ended.abort();
    }
  }

  async #endThread(): Promise<void> {
    const thread = await this.#thread?.catch(() => undefined);
    this.#thread = undefined;
    await thread?.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close(new Error('the prober is closed'));
    await this.#last;
    await this.#endThread();
  }
}

const DIED: ThreadAnswer = { kind: 'error', message: 'the thread has ended' };
const SILENT: ThreadAnswer = { kind: 'error', message: 'the thread did not answer in time' };

// Has the same extension as this file: .ts in the sources, .js in the built package.
const THREAD_FILE = new URL(`./media-info-thread${extname(import.meta.url)}`, import.meta.url);

/** Starts the thread without this process's Node options, some of which make Node load or evaluate code. */
async function startThread(): Promise<Worker> {
  const thread = new Worker(THREAD_FILE, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 128 } });
  await once(thread, 'message'); // 'loaded'; rejects with the error of a thread that cannot start
  thread.unref();
  return thread;
}
