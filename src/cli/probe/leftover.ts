import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { NotFoundError } from '@dropcast/client';
import type { VideoClient, VideoListItem } from '@dropcast/client';
import { readRegularFile } from '../../config/file-access.ts';
import { syncPath } from '../../disk/file-system.ts';
import { errnoOf, errnoSentence } from '../../errno.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { CommandError, exitCodes } from '../shell.ts';
import { installFile } from '../systemd/install-file.ts';

/** The video that a probe creates on the service. Written before the video is created, removed once it is deleted. */
export interface Leftover {
  /** Base address of the service. */
  readonly service: string;
  /** Title of the video, which no other video has. */
  readonly title: string;
  /** Null until the service has answered the create request. */
  readonly id: string | null;
  /** When the probe started, and when it has ended at the latest, in epoch milliseconds. */
  readonly started_at: number;
  readonly ends_by: number;
  readonly pid: number;
}

/** The file in a state directory that names a probe's video, so that it can be deleted even if the probe is killed. */
export class LeftoverFile {
  readonly path: string;

  constructor(stateDir: string) {
    this.path = join(stateDir, 'probe.json');
  }

  /**
   * @returns null if there is no file, or nothing in it that a probe wrote
   * @throws {CommandError} it cannot be read
   */
  async read(): Promise<Leftover | null> {
    const read = await readRegularFile(this.path, 64 * 1024);
    if (read.ok) return parsed(read.bytes.toString());
    if (read.errno === 'ENOENT' || read.errno === 'ENOTDIR') return null;
    throw new CommandError(`cannot read ${this.path}: ${read.message}`);
  }

  /**
   * Writes durably: after a crash, the file has the old or the new text.
   *
   * @throws {CommandError} it cannot be written
   */
  async write(leftover: Leftover): Promise<void> {
    try {
      await installFile(this.path, `${JSON.stringify(leftover)}\n`, { mode: 0o600 });
    } catch (error) {
      const message = `cannot write ${this.path}, which names the video of the probe: ${errnoSentence(error)}`;
      throw new CommandError(message, exitCodes.failed, { cause: error });
    }
  }

  async forget(): Promise<void> {
    await rm(this.path, { force: true });
    await syncPath(join(this.path, '..'));
  }
}

function parsed(text: string): Leftover | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const { service, title, id, started_at, ends_by, pid } = (json ?? {}) as Readonly<Record<string, unknown>>;
  const isProbes = typeof title === 'string' && titleForm.test(title) && typeof service === 'string';
  if (!isProbes || !(id === null || typeof id === 'string')) return null;
  const [startedAt, endsBy] = [started_at, ends_by].map((time) =>
    Math.min(Math.max(Number(time) || 0, 0), longestTime),
  );
  return { service, title, id, started_at: startedAt ?? 0, ends_by: endsBy ?? 0, pid: Number(pid) };
}

/** The largest time that a `Date` can have, in epoch milliseconds (ECMAScript section 21.4.1.1). */
const longestTime = 8.64e15;

const titleForm = /^dropcast probe [0-9a-f]{16}$/;

/** @param random 16 hexadecimal digits, by which the video is recognised even if the service changes its title */
export function titleOf(random: string): string {
  return `dropcast probe ${random}`;
}

/** The video that a probe left, as part of a sentence. */
export function nameOf({ id, title }: Pick<Leftover, 'id' | 'title'>): string {
  return id === null ? `a video titled "${escapeControls(title)}"` : `the video ${escapeControls(id)}`;
}

/** Whether the probe that left this may still be running. A process id alone may belong to another program by now. */
export function isRunning({ pid, ends_by: endsBy }: Leftover, nowMs: number): boolean {
  if (nowMs > endsBy || !Number.isInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
}

/** The result of deleting the video of a probe. `not ours`: the service has the title of another video for its id. */
export type Removal = 'deleted' | 'gone' | 'not found' | 'not ours';

/** How many of the newest videos are searched for a title. A probe's own video is among the newest. */
const mostSearched = 200;

/**
 * Deletes the video of a probe. It compares the title first, because a service, or a cache in front of it, may have
 * given the probe the id of another video. Without an id, it looks for the title, which is unique to the probe.
 *
 * @returns `not found`: the service lists no such video, but may still create it
 * @throws {ServiceError} the service does not answer or refuses
 */
export async function removeLeftover(
  { videos }: Pick<VideoClient, 'videos'>,
  { id, title }: Pick<Leftover, 'id' | 'title'>,
  signal: AbortSignal,
): Promise<Removal> {
  const isOurs = (video: { readonly title?: string }): boolean => video.title?.includes(title.slice(-16)) ?? true;
  try {
    const found = id ?? (await idOf(videos.list({ limit: mostSearched }, { signal }), isOurs));
    if (found === null) return 'not found';
    if (id !== null && !isOurs(await videos.get(id, { signal }))) return 'not ours';
    await videos.delete(found, { signal });
    return 'deleted';
  } catch (error) {
    if (error instanceof NotFoundError && id !== null) return 'gone';
    throw error;
  }
}

async function idOf(
  videos: AsyncIterable<VideoListItem>,
  isOurs: (video: VideoListItem) => boolean,
): Promise<string | null> {
  for await (const video of videos) if (isOurs(video)) return video.id;
  return null;
}
