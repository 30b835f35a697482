import type { UploadedVideo, Video, WaitNote } from '@dropcast/client';
import { access, constants, realpath, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { errnoSentence } from '../../errno.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { renderTitle } from '../../routing/template.ts';
import { formatBytes, formatDuration } from '../output/format.ts';
import { printResult } from '../output/json.ts';
import type { FileProgress } from '../output/progress-view.ts';
import { createProgress } from '../output/progress.ts';
import { renderDetails } from '../output/table.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { creatingRecord, waitingForVideo } from './failures.ts';
import type { Session } from './session.ts';
import { newVideo, recordDetails, videoDetails, videoForm } from './videos.ts';
import type { NewVideoOptions } from './videos.ts';

export interface UploadVideoOptions extends Omit<NewVideoOptions, 'title'> {
  /** Defaults to a title made from the file name, like `{title}` in folder rules. */
  readonly title?: string;
  readonly wait?: boolean;
}

/** `dropcast videos upload FILE`: creates a record and sends the file. With `wait`, waits until the video is ready. */
export async function uploadVideo(session: Session, options: UploadVideoOptions, name: string): Promise<void> {
  const { shell, client, sendOptions } = session;
  const { path, sizeBytes, defaultTitle } = await fileToSend(shell, name);
  const fields = newVideo({ ...options, title: options.title ?? defaultTitle });
  let result: Result | null = null;
  try {
    using progress = openUploadProgress(shell, { name: basename(name), sizeBytes });
    const uploaded = await creatingRecord((onId) =>
      client.videos.upload(path, fields, {
        ...sendOptions(),
        signal: shell.stopping,
        onCreated: ({ id }) => {
          onId(id);
          progress.update({ stage: 'uploading' });
        },
        onProgress: (sentBytes, totalBytes) => progress.update({ sentBytes, sizeBytes: totalBytes }),
      }),
    );
    result = { uploaded, status: null, video: null };
    progress.update({ stage: 'uploaded' });
    if (options.wait !== true) return;
    const onStatus: OnStatus = (status, why) => {
      result = { uploaded, status, video: null };
      // The service's `ready` is what dropcast calls `done`.
      progress.update({ stage: status === 'ready' ? 'done' : status, why });
    };
    const video = await waitingForVideo(uploaded.id, () => follow(session, uploaded.id, onStatus));
    result = { uploaded, status: video.status, video };
  } finally {
    // A failed video has an id too, and the user needs it.
    if (result !== null) printUpload(shell, result, options.json);
  }
}

interface Result {
  readonly uploaded: UploadedVideo;
  /** The last status from the service; null if it was not asked. */
  readonly status: string | null;
  /** Null unless the video became ready. */
  readonly video: Video | null;
}

function printUpload(shell: Shell, { uploaded, status, video }: Result, json: boolean | undefined): void {
  const { id, sizeBytes, sha256 } = uploaded;
  const form = video === null ? null : videoForm(video);
  printResult({ id, status, size: sizeBytes, sha256, video: form }, { shell, json }, () =>
    renderDetails(
      [
        ...(video === null ? recordDetails({ id, status }) : videoDetails(video)),
        ['size', `${formatBytes(sizeBytes)} (${sizeBytes} bytes)`],
        ['sha256', sha256],
      ],
      shell,
    ),
  );
}

/**
 * Opens the progress display for one upload, on stderr. `update` changes fields; omitted ones keep their values.
 *
 * @param begun.name the unescaped file name
 */
function openUploadProgress(shell: Shell, { name, sizeBytes }: Pick<FileProgress, 'name' | 'sizeBytes'>) {
  const progress = createProgress(shell);
  let file: FileProgress = { id: name, name, stage: 'creating', sentBytes: 0, sizeBytes, why: null };
  const update = (changes: Partial<FileProgress>): void => {
    file = { ...file, ...changes };
    progress.update({ files: [file], more: 0, totals: null, requests: null });
  };
  update({});
  return { update, [Symbol.dispose]: () => progress.finish() };
}

/** Receives each video status, and why news of it is slow to arrive (null while the service is answering). */
type OnStatus = (status: string, why: string | null) => void;

/**
 * Waits until a video is ready.
 *
 * @param onStatus called with the first status and with every change
 * @throws {VideoFailedError} when processing failed
 * @throws {RateLimitedError} when the service asks for a pause of more than an hour
 * @throws {WaitTimeoutError} after 24 hours
 */
export async function follow({ shell, client }: Session, id: string, onStatus: OnStatus): Promise<Video> {
  let last = 'processing';
  return await client.videos.waitUntilReady(id, {
    // A short file is ready within seconds, while the user is watching. A long one takes longer, and every poll counts
    // against the thousand requests per hour that the daemon also needs (api-spec section 8): 30 polls in the first
    // minute, then 240 per hour.
    intervalMs: (waitedMs) => (waitedMs < 60_000 ? 2_000 : 15_000),
    // The same as the daemon's default (design section 3, poll).
    waitMs: 24 * 3_600_000,
    // The user asked to wait and sees the reason, and a rate limit lasts at most an hour (api-spec section 8).
    maxRetryAfterMs: 3_600_000,
    signal: shell.stopping,
    onStatus: (status) => {
      last = status;
      onStatus(status, null);
    },
    onWait: (note) => onStatus(last, whyOf(note)),
  });
}

/** Why news of the video is slow to arrive; null for an ordinary pause between polls. */
function whyOf({ reason, ms, error }: WaitNote): string | null {
  if (reason === 'not ready') return null;
  const what = reason === 'rate limited' ? 'rate limited' : (error?.message ?? 'the service does not answer');
  return `${what}; checking again in ${formatDuration(ms)}`;
}

/** A file that was checked and can be sent. */
interface FileToSend {
  /** Absolute path without symbolic links. The typed path may contain some, which the upload would refuse. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly defaultTitle: string;
}

/**
 * Checks the file for `videos upload` before anything is created, so that a mistake leaves no record behind.
 *
 * @param name as typed
 * @throws {CommandError} with exit code 2 when the file is missing, not a regular file, or not readable
 */
async function fileToSend(shell: Pick<Shell, 'cwd'>, name: string): Promise<FileToSend> {
  if (name === '') throw new CommandError('the file name is empty: name a file to upload', exitCodes.usage);
  try {
    const path = await realpath(resolve(shell.cwd, name));
    const found = await stat(path);
    if (!found.isFile()) throw unsendable(name, found.isDirectory() ? 'it is a directory' : 'it is not a regular file');
    await access(path, constants.R_OK);
    const defaultTitle = renderTitle('{title}', { path: basename(name), modifiedMs: found.mtimeMs });
    return { path, sizeBytes: found.size, defaultTitle };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    // Node decodes arguments as UTF-8. A name in another encoding contains this replacement character and matches no
    // file.
    const why = name.includes('\ufffd') ? 'its name is not UTF-8; rename it' : errnoSentence(error);
    throw unsendable(name, why);
  }
}

function unsendable(name: string, why: string): CommandError {
  return new CommandError(`cannot upload ${escapeControls(name)}: ${why}`, exitCodes.usage);
}
