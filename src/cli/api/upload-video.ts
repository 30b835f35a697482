import { basename } from 'node:path';
import type { UploadedVideo, Video } from '@dropcast/client';
import { hasColour } from '../../log/colour.ts';
import { renderDetails } from '../output/details.ts';
import { formatBytes } from '../output/format.ts';
import { printJson } from '../output/json.ts';
import { createProgress } from '../output/progress.ts';
import type { FileProgress } from '../output/progress-view.ts';
import type { Shell } from '../shell.ts';
import { fileToSend } from './file-to-send.ts';
import type { FileToSend } from './file-to-send.ts';
import { follow } from './follow.ts';
import type { OnStatus } from './follow.ts';
import { videoForm } from './json-forms.ts';
import { newVideo } from './create-video.ts';
import type { NewVideoOptions } from './create-video.ts';
import type { Session } from './session.ts';
import { creatingRecord, waitingForVideo } from './unfinished.ts';
import { statusStyle, videoDetails } from './video-text.ts';

export interface UploadVideoOptions extends Omit<NewVideoOptions, 'title'> {
  /** Default: from the file name, like `{title}` in folder rules. */
  readonly title?: string;
  readonly wait?: boolean;
  readonly json?: boolean;
}

/** `dropcast videos upload FILE`: creates a record and sends the file; with `wait` until the video is ready. */
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
    // A failed video has an id too, and somebody has to look at it.
    if (result !== null) printUpload(shell, result, options.json === true);
  }
}

interface Result {
  readonly uploaded: UploadedVideo;
  /** The last status of the service; null when it was not asked. */
  readonly status: string | null;
  /** Null unless it became ready. */
  readonly video: Video | null;
}

function send(
  { shell, client }: Session,
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
      signal: shell.stopping,
      onCreated: ({ id }) => {
        onId(id);
        progress.update({ stage: 'uploading' });
      },
      onProgress: (sentBytes, totalBytes) => progress.update({ sentBytes, sizeBytes: totalBytes }),
    }),
  );
}

/** The service says `ready` where the life of a file ends with `done`. */
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

/** The progress of one upload, on stderr. */
interface UploadProgress extends Disposable {
  /** Unnamed fields keep their value. */
  update(changes: Partial<Pick<FileProgress, 'stage' | 'sentBytes' | 'sizeBytes' | 'why'>>): void;
}

/** @param name of the file, as it is */
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
