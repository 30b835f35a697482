import type { UploadedVideo, Video } from '@dropcast/client';
import { access, constants, realpath, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { errnoSentence } from '../../errno.ts';
import { hasColour } from '../../log/colour.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { renderTitle } from '../../routing/template.ts';
import { renderDetails } from '../output/details.ts';
import { formatBytes } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import type { FileProgress } from '../output/progress-view.ts';
import { createProgress } from '../output/progress.ts';
import { CommandError, type Shell, exitCodes } from '../shell.ts';
import { type NewVideoOptions, newVideo } from './create-video.ts';
import { type OnStatus, follow } from './follow.ts';
import { videoForm } from './json-forms.ts';
import type { Session } from './session.ts';
import { creatingRecord, waitingForVideo } from './unfinished.ts';
import { statusStyle, videoDetails } from './video-text.ts';

export interface UploadVideoOptions extends Omit<NewVideoOptions, 'title'> {
  /** Defaults to a title made from the file name, like `{title}` in folder rules. */
  readonly title?: string;
  readonly wait?: boolean;
  readonly json?: boolean;
}

/** `dropcast videos upload FILE`: creates a record and sends the file. With `wait`, waits until the video is ready. */
export async function uploadVideo(session: Session, name: string, options: UploadVideoOptions): Promise<void> {
  const { shell } = session;
  const file = await fileToSend(shell, name);
  let result: Result | null = null;
  try {
    using progress = openUploadProgress(shell, basename(name));
    const uploaded = await send(session, { ...options, ...file, progress });
    result = { uploaded, status: null, video: null };
    progress.update({ stage: 'uploaded' });
    if (options.wait !== true) return;
    const onStatus: OnStatus = (status, why) => {
      result = { uploaded, status, video: null };
      progress.update({ stage: stateOf(status), why });
    };
    const video = await waitingForVideo(uploaded.id, () => follow(session, uploaded.id, onStatus));
    result = { uploaded, status: video.status, video };
  } finally {
    // A failed video has an id too, and the user needs it.
    if (result !== null) printUpload(shell, result, options.json === true);
  }
}

interface Result {
  readonly uploaded: UploadedVideo;
  /** The last status from the service; null if it was not asked. */
  readonly status: string | null;
  /** Null unless the video became ready. */
  readonly video: Video | null;
}

function send(
  { shell, client, sendOptions }: Session,
  {
    progress,
    path,
    sizeBytes,
    defaultTitle,
    ...options
  }: UploadVideoOptions & FileToSend & { progress: UploadProgress },
): Promise<UploadedVideo> {
  progress.update({ sizeBytes });
  const fields = newVideo({ ...options, title: options.title ?? defaultTitle });
  return creatingRecord((onId) =>
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
}

/** The service's `ready` is what dropcast calls `done`. */
function stateOf(status: string): string {
  return status === 'ready' ? 'done' : status;
}

function printUpload(shell: Shell, { uploaded, status, video }: Result, isJson: boolean): void {
  const { id, sizeBytes, sha256 } = uploaded;
  if (isJson) {
    const form = video === null ? null : videoForm(video);
    printJson({ id, status, size: sizeBytes, sha256, video: form }, shell.stdout);
    return;
  }
  const colour = hasColour(shell.stdout, shell.env);
  const file = [
    { label: 'size', value: `${formatBytes(sizeBytes)} (${sizeBytes} bytes)` },
    { label: 'sha256', value: sha256 },
  ];
  const about = [
    { label: 'id', value: id },
    { label: 'status', value: status, style: statusStyle(status ?? '') },
  ];
  const details = [...(video === null ? about : videoDetails(video)), ...file];
  shell.stdout.write(renderDetails(details, colour));
}

/** The progress display for one upload, on stderr. */
interface UploadProgress extends Disposable {
  /** Updates the display. Omitted fields keep their values. */
  update(changes: Partial<Pick<FileProgress, 'stage' | 'sentBytes' | 'sizeBytes' | 'why'>>): void;
}

/** @param name the unescaped file name */
function openUploadProgress({ stderr, env }: Pick<Shell, 'stderr' | 'env'>, name: string): UploadProgress {
  const now = () => performance.now();
  const progress = createProgress({ stream: stderr, isTerminal: stderr.isTTY, now, env });
  let file: FileProgress = { id: name, name, stage: 'creating', sentBytes: 0, sizeBytes: 0, why: null };
  const update: UploadProgress['update'] = (changes) => {
    file = { ...file, ...changes };
    progress.update({ files: [file], more: 0, totals: null, requests: null });
  };
  return { update, [Symbol.dispose]: () => progress.finish() };
}

/** A file that was checked and can be sent. */
export interface FileToSend {
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
