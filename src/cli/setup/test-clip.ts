import { randomBytes } from 'node:crypto';
import { chmod, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createVideoClient, NotFoundError, ServiceError } from '@dropcast/client';
import type { VideoClient } from '@dropcast/client';
import type { Config, FolderConfig } from '../../config/config.ts';
import type { FileView } from '../../view/files/file-view.ts';
import type { ShowView } from '../../view/files/show-view.ts';
import { stageOfState } from '../../view/stages.ts';
import type { TestClipEnded } from '../../daemon/control/routes.ts';
import { createRouter } from '../../intake/folder-router.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { commandDaemon, queryRunningDaemon } from '../control.ts';
import { CommandError } from '../shell.ts';

export interface TestClip {
  readonly config: Config;
  readonly folder: FolderConfig;
  /** Folder of the sample media. */
  readonly samples: string;
  readonly signal: AbortSignal;
  /**
   * Called for each stage that the clip reaches.
   *
   * @param afterMs milliseconds since the clip was dropped
   */
  reached(stage: string, afterMs: number): void;
  /** How long to wait for the clip to finish, in milliseconds. */
  readonly patienceMs: number;
}

export interface ClipResult {
  /** What went wrong and what to do; null if the video became ready. */
  readonly problem: string | null;
  /** States in the order they were reached. */
  readonly steps: readonly { readonly state: string; readonly after_ms: number }[];
  /** The video's address for a browser; null if the service provides none. */
  readonly link: string | null;
  /** What could not be removed, each with how to remove it. */
  readonly leftovers: readonly string[];
}

/**
 * Sends a clip of a few kilobytes through the running daemon, from the folder to a ready video, then removes the video
 * and the file. A sidecar keeps the clip out of every feed, where viewers would see it.
 *
 * @throws {CommandError} when the folder does not accept the clip, or the daemon is not running
 */
export async function runTestClip(clip: TestClip): Promise<ClipResult> {
  const { config, folder, signal } = clip;
  const name = `dropcast-test-${randomBytes(4).toString('hex')}`;
  const files = requireTaken(folder, name);
  await using client = clientOf(config);
  const steps: { state: string; after_ms: number }[] = [];
  const dropped = performance.now();
  const told = new Set<string>();
  const note = (state: string): void => {
    if (steps.some((step) => step.state === state)) return;
    const afterMs = Math.round(performance.now() - dropped);
    steps.push({ state, after_ms: afterMs });
    const stage = stageOfState(state);
    if (stage === null || told.has(stage)) return;
    told.add(stage);
    clip.reached(stage, afterMs);
  };
  try {
    await drop(files, clip);
    const file = await untilEnded(clip, files.video, note);
    const link = file?.state === 'done' ? await linkOf(client, file, signal) : null;
    const problem = problemOf(file, clip);
    const leftovers = await remove(client, clip, { file, files });
    return { problem, steps, link, leftovers };
  } finally {
    for (const path of Object.values(files)) if (path !== null) await rm(path, { force: true });
  }
}

interface ClipFiles {
  readonly video: string;
  readonly sidecar: string;
  readonly marker: string | null;
}

/** Chooses absolute paths for the files to drop, after checking that the folder accepts them. */
function requireTaken(folder: FolderConfig, name: string): ClipFiles {
  const router = createRouter(folder);
  const [video, sidecar] = [`${name}.mp4`, `${name}.yaml`];
  if (router.accepts(video) !== 'media' || router.accepts(sidecar) !== 'sidecar') {
    const message = `${folder.path} takes no ${video} with its sidecar ${sidecar}: check its include and exclude`;
    throw new CommandError(`cannot drop a test clip: ${message}`);
  }
  const marker = router.markerOf(video);
  const inFolder = (path: string): string => join(folder.path, path);
  return { video: inFolder(video), sidecar: inFolder(sidecar), marker: marker === null ? null : inFolder(marker) };
}

async function drop({ video, sidecar, marker }: ClipFiles, { samples }: TestClip): Promise<void> {
  await writeFile(sidecar, 'title: dropcast test clip\npublish: []\n', { flag: 'wx' });
  const clip = await uniqueClip(samples);
  // The clip has a hidden name until it is complete.
  const partial = join(dirname(video), `.${randomBytes(4).toString('hex')}.part`);
  await writeFile(partial, clip, { flag: 'wx' });
  for (const path of [sidecar, partial]) await chmod(path, 0o664);
  await rename(partial, video);
  if (marker !== null) await writeFile(marker, '', { flag: 'wx' });
}

/** Returns a video of a few kilobytes whose bytes no earlier one had. @param samples folder of the sample media */
export async function uniqueClip(samples: string): Promise<Buffer> {
  return Buffer.concat([await readFile(join(samples, 'clip.mp4')), uniqueBox()]);
}

/**
 * Creates a box that players skip (ISO/IEC 14496-12, `free`), so that the clip is not a duplicate of an earlier one.
 */
function uniqueBox(): Buffer {
  const noise = randomBytes(16);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(noise.length + head.length);
  head.write('free', 4);
  return Buffer.concat([head, noise]);
}

const pollMs = 100;
const ends: ReadonlySet<string> = new Set(['done', 'failed', 'held', 'skipped', 'vanished', 'superseded']);

/** @returns the last known state; null if the daemon never saw the clip */
async function untilEnded(clip: TestClip, path: string, note: (state: string) => void): Promise<FileView | null> {
  const { config, signal, patienceMs } = clip;
  // While a move or deletion is in progress, a change to the file would make dropcast restore it.
  const isPutAway = ({ local }: FileView): boolean => local !== 'pending';
  const until = performance.now() + patienceMs;
  let file: FileView | null = null;
  for (;;) {
    const shown = await show(config, file?.id ?? path);
    file = shown?.file ?? file;
    // The history contains states that were passed between two polls.
    for (const { state } of shown?.history ?? []) note(state);
    if (file !== null) note(file.state);
    const isOver = file !== null && ends.has(file.state) && isPutAway(file);
    if (isOver || signal.aborted || performance.now() > until) return file;
    await pause(pollMs);
  }
}

async function show(config: Config, name: string): Promise<ShowView | undefined> {
  const path = `/file?name=${encodeURIComponent(name)}`;
  return (await queryRunningDaemon<{ readonly found: readonly ShowView[] }>(config, path)).found[0];
}

function problemOf(file: FileView | null, { folder, patienceMs, signal }: TestClip): string | null {
  if (signal.aborted) return 'stopped before the test clip was ready';
  const within = `${Math.round(patienceMs / 1000)} s`;
  if (file === null)
    return `the daemon did not see the test clip in ${folder.path} within ${within}: dropcast status says why`;
  if (file.state === 'done') return null;
  const why = file.why === null ? '' : `: ${escapeControls(file.why)}`;
  if (ends.has(file.state)) return `the test clip is ${file.stage}${why}`;
  return `the test clip is still ${file.stage} after ${within}${why}`;
}

async function linkOf(client: VideoClient, { video_id: id }: FileView, signal: AbortSignal): Promise<string | null> {
  if (id === null) return null;
  return (await client.videos.get(id, { signal }).catch(() => null))?.embedUrl ?? null;
}

/** Removes the video and all files, wherever they are now, and records that in the clip's row. */
async function remove(
  client: VideoClient,
  { config, folder }: TestClip,
  { file, files }: { readonly file: FileView | null; readonly files: ClipFiles },
): Promise<readonly string[]> {
  const leftovers: string[] = [];
  for (const path of [...Object.values(files), ...(await besideOf(file, folder))])
    if (path !== null) await rm(path, { force: true }).catch(() => leftovers.push(`the file ${path}: delete it`));
  if (file?.video_id != null && !(await deleteVideo(client, file.video_id)))
    leftovers.push(`the video ${file.video_id}: dropcast videos delete ${file.video_id}`);
  if (file !== null && ends.has(file.state))
    await commandDaemon<TestClipEnded>(config, '/test-clip/ended', { id: file.id });
  return leftovers;
}

/** Current paths of the clip, its sidecar and its marker. */
async function besideOf(file: FileView | null, folder: FolderConfig): Promise<readonly string[]> {
  if (file === null || !file.path.startsWith(`${folder.path}/`)) return [];
  const { dir, name } = parse(file.path);
  const names = await readdir(dir).catch(() => []);
  return names.filter((each) => each.startsWith(`${name}.`)).map((each) => join(dir, each));
}

async function deleteVideo(client: VideoClient, id: string): Promise<boolean> {
  try {
    await client.videos.delete(id);
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return error instanceof NotFoundError;
  }
}

function clientOf({ service: { baseUrl, apiKey, sendKeyTo, authorities: ca } }: Config): VideoClient {
  return createVideoClient({ baseUrl, apiKey: apiKey.reveal(), sendKeyTo, ca });
}
