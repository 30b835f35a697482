import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { NotFoundError, ServiceError, WaitTimeoutError } from '@dropcast/client';
import type { VideoClient } from '@dropcast/client';
import type { Target } from '../api/target.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { isInDoubt } from '../api/failures.ts';
import { formatDuration } from '../output/format.ts';
import { CommandError } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { removeLeftover, titleOf } from './leftover.ts';
import type { Leftover, LeftoverFile } from './leftover.ts';

export interface ProbeTask {
  readonly client: VideoClient;
  readonly target: Pick<Target, 'baseUrl' | 'sendOptions'>;
  readonly channel: string;
  readonly clip: Buffer;
  readonly file: LeftoverFile;
  /** How long the video may take to become ready, in milliseconds. */
  readonly timeoutMs: number;
  /** `stopping` ends the probe, which then deletes the video; `hurrying` ends the deletion too. */
  readonly shell: Pick<Shell, 'stopping' | 'hurrying'>;
  /** Called with each thing that was done. */
  did(what: string): void;
}

export interface ProbeResult {
  /** Id of the video; null if none was created. */
  readonly video: string | null;
  /** Statuses of the video, in order. */
  readonly statuses: readonly string[];
  /** Time from the end of the upload until the video was ready, in milliseconds; null if it was not. */
  readonly readyMs: number | null;
  /** The service's answer about the deleted video; null if nothing was deleted. */
  readonly afterDeletion: 'not found' | 'still there' | null;
  /** What ended the probe early; null if the video became ready. */
  readonly error: unknown;
  /** The video that remains on the service, as the file names it; null if none does. */
  readonly left: Leftover | null;
}

/**
 * Creates a video, sends its file, waits until it is ready and deletes it, also after a failure. If the deletion fails
 * too, the file still names the video. Each request is sent once, so that a repetition does not hide the first answer.
 *
 * @throws {CommandError} if the file cannot be written; nothing was sent then
 */
export async function sendProbe(task: ProbeTask): Promise<ProbeResult> {
  const probe = new Probe(task);
  const error = await probe.send();
  const removed = await probe.remove(error);
  const { video, statuses, readyMs } = probe;
  return { video, statuses, readyMs, error, ...removed };
}

/** How long deleting the video may take, in milliseconds. */
const removalMs = 30_000;

class Probe {
  readonly #task: ProbeTask;
  #made: Leftover;
  readonly statuses: string[] = [];
  readyMs: number | null = null;

  constructor(task: ProbeTask) {
    this.#task = task;
    const now = Date.now();
    this.#made = {
      service: task.target.baseUrl,
      title: titleOf(randomBytes(8).toString('hex')),
      id: null,
      started_at: now,
      ends_by: now + task.timeoutMs + 2 * removalMs,
      pid: process.pid,
    };
  }

  get video(): string | null {
    return this.#made.id;
  }

  /** @returns what ended it early; null if the video became ready */
  async send(): Promise<unknown> {
    const { client, channel, clip, file, target, timeoutMs, shell, did } = this.#task;
    await file.write(this.#made);
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([shell.stopping, deadline]);
    const source = { name: 'dropcast-probe.mp4', sizeBytes: clip.length, open: () => streamOf(clip) };
    try {
      const fields = { title: this.#made.title, channelId: channel };
      const { id } = await client.videos.upload(source, fields, {
        ...target.sendOptions(),
        signal,
        stallTimeoutMs: Math.min(timeoutMs, 60_000),
        onCreated: async (created) => {
          this.#made = { ...this.#made, id: created.id };
          this.statuses.push(created.status);
          await file.write(this.#made);
          did(`Created the video ${created.id}.`);
        },
      });
      did('Sent its file.');
      const sentAt = performance.now();
      const onStatus = (status: string): void => void (this.statuses.at(-1) !== status && this.statuses.push(status));
      await client.videos.waitUntilReady(id, { waitMs: timeoutMs, intervalMs: pauseMs, signal, onStatus });
      this.readyMs = Math.round(performance.now() - sentAt);
      did(`It was ready after ${formatDuration(this.readyMs)}.`);
      return null;
    } catch (error) {
      const isLate = deadline.aborted || error instanceof WaitTimeoutError;
      return isLate ? new LateError(timeoutMs, this.statuses.at(-1), error) : error;
    }
  }

  /** Deletes the video. @param error what ended the probe early */
  async remove(error: unknown): Promise<Removed> {
    const { client, file, shell, did } = this.#task;
    const { id } = this.#made;
    const mayExist = id !== null || isInDoubt(error instanceof LateError ? error.cause : error);
    const signal = AbortSignal.any([shell.hurrying, AbortSignal.timeout(removalMs)]);
    try {
      const removal = mayExist ? await removeLeftover(client, this.#made, signal) : 'gone';
      if (removal === 'not found') return { left: this.#made, afterDeletion: null };
      await file.forget();
      if (removal === 'not ours') return { left: null, afterDeletion: null, error: notOurs(id ?? '') };
      if (removal === 'gone') return { left: null, afterDeletion: null };
      did('Deleted the video.');
      return { left: null, afterDeletion: id === null ? null : await this.#afterDeletion(id, signal) };
    } catch (failure) {
      if (!(failure instanceof ServiceError || failure instanceof CommandError)) throw failure;
      did(`Could not delete the video: ${failure.message}`);
      return { left: this.#made, afterDeletion: null };
    }
  }

  /** Asks for the deleted video, which also shows the form of an error. */
  async #afterDeletion(id: string, signal: AbortSignal): Promise<ProbeResult['afterDeletion']> {
    await pause(afterDeletionMs);
    try {
      await this.#task.client.videos.get(id, { signal });
      return 'still there';
    } catch (error) {
      return error instanceof NotFoundError ? 'not found' : null;
    }
  }
}

/** `error` replaces what ended the probe early. */
type Removed = Pick<ProbeResult, 'left' | 'afterDeletion'> & Partial<Pick<ProbeResult, 'error'>>;

function notOurs(id: string): CommandError {
  const what = `the service gave the probe the id ${escapeControls(id)}, which another video has`;
  return new CommandError(`${what}: look at that video, because the probe may have sent its file there`);
}

/** Wait before the question about the deleted video, because some services delete in the background. */
const afterDeletionMs = 1000;

/** Thrown when the video was not ready in time. `cause` is the request that was aborted. */
export class LateError extends Error {
  override readonly name = 'LateError';

  constructor(timeoutMs: number, status: string | undefined, cause: unknown) {
    const known = status === undefined ? '' : `; its status is ${JSON.stringify(status)}`;
    super(`the video was not ready within ${formatDuration(timeoutMs)}${known}`, { cause });
  }
}

/** Pause before the next look at the status: as long as the wait so far, from 1 to 15 seconds. */
function pauseMs(waitedMs: number): number {
  return Math.min(Math.max(waitedMs, 1000), 15_000);
}

/**
 * Returns the largest number of requests that a probe takes: the looks at the status, create, delete, and three in
 * reserve.
 */
export function mostRequests(timeoutMs: number): number {
  let looks = 1;
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += pauseMs(waitedMs)) looks += 1;
  return looks + 5;
}

// oxlint-disable-next-line require-await -- the client takes an async iterable
async function* streamOf(clip: Buffer): AsyncGenerator<Buffer> {
  yield clip;
}
