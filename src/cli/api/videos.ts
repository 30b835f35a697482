import type { NewVideo, Video, VideoChanges, VideoListItem } from '@dropcast/client';
import type { Style } from '../../log/colour.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { given } from '../argument-types.ts';
import { formatDuration, formatMoment, UNKNOWN } from '../output/format.ts';
import { printResult } from '../output/json.ts';
import { renderDetails } from '../output/table.ts';
import type { Detail } from '../output/table.ts';
import { cutEnd } from '../output/text-width.ts';
import { CommandError, exitCodes } from '../shell.ts';
import { canAsk, confirm } from './confirm.ts';
import { creatingRecord } from './failures.ts';
import { printList } from './print-list.ts';
import type { Session } from './session.ts';

interface Json {
  readonly json?: boolean;
}

/** The service's largest page size (api-spec section 4.1). */
const MOST_PER_PAGE = 100;

export interface ListVideosOptions extends Json {
  readonly channel?: string;
  readonly status?: 'processing' | 'ready' | 'failed';
  /** Maximum number of videos, at least 1. */
  readonly limit: number;
}

/** `dropcast videos list`: lists videos, newest first. */
export async function listVideos({ shell, client }: Session, options: ListVideosOptions): Promise<void> {
  const { channel, status, limit, json } = options;
  const query = { perPage: Math.min(limit, MOST_PER_PAGE), limit, ...given({ channelId: channel, status }) };
  const videos = await client.videos.list(query, { signal: shell.stopping }).toArray();
  const nowMs = Date.now();
  printList(
    { videos: videos.map(videoListForm) },
    { shell, json },
    {
      items: videos,
      limit,
      none: 'No videos found.',
      columns: [
        ['STATUS', (video) => video.status, { style: statusStyle }],
        ['ID', ({ id }) => id],
        ['TITLE', ({ title }) => title || UNKNOWN, { cut: 'end' }],
        ['LENGTH', (video) => lengthOf(video) ?? UNKNOWN, { align: 'right' }],
        ['CREATED', ({ createdAt }) => formatMoment(createdAt || undefined, nowMs, shell.stdout.isTTY)],
      ],
    },
  );
}

/** `dropcast videos get ID`: shows everything about one video. */
export async function getVideo({ shell, client }: Session, { json }: Json, id: string): Promise<void> {
  const video = await client.videos.get(id, { signal: shell.stopping });
  printResult({ video: videoForm(video) }, { shell, json }, () => renderDetails(videoDetails(video), shell));
}

/** Options of every command that creates a record. */
export interface NewVideoOptions extends Json {
  readonly title: string;
  readonly channel?: string;
  readonly description?: string;
  readonly tag?: readonly string[];
}

/** `dropcast videos create`: creates a record without a file, and prints its upload address and headers. */
export async function createVideo({ shell, client }: Session, options: NewVideoOptions): Promise<void> {
  const { json } = options;
  const created = await creatingRecord(() => client.videos.create(newVideo(options), { signal: shell.stopping }));
  const { id, status, uploadUrl, uploadHeaders } = created;
  const headers = uploadHeaders !== undefined && { upload_headers: uploadHeaders };
  printResult({ id, status, upload_url: uploadUrl, ...headers }, { shell, json }, () =>
    renderDetails(
      [
        ...recordDetails(created),
        ['upload address', uploadUrl],
        ...Object.entries(uploadHeaders ?? {}).map(([name, value]): Detail => ['header', `${name}: ${value}`]),
      ],
      shell,
    ),
  );
  if (json === true) return;
  const how = uploadHeaders === undefined ? '' : ' that has these headers';
  shell.stderr.write(
    `Send the file there with an HTTP PUT${how}. Keep the address secret: anyone who has it can upload.\n`,
  );
}

/** `dropcast videos import URL`: creates a record whose file the service fetches. */
export async function importVideo({ shell, client }: Session, options: NewVideoOptions, url: string): Promise<void> {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new CommandError('not a web address; write it like https://example.com/clip.mp4', exitCodes.usage);
  const created = await creatingRecord(() => client.videos.import(url, newVideo(options), { signal: shell.stopping }));
  const { id, status } = created;
  printResult({ id, status }, { shell, json: options.json }, () => renderDetails(recordDetails(created), shell));
}

/** Builds a new record's fields from the options. */
export function newVideo({ title, channel, description, tag }: NewVideoOptions): NewVideo {
  return { title, ...given({ channelId: channel, description, tags: tag }) };
}

export interface UpdateVideoOptions extends Json {
  readonly title?: string;
  readonly description?: string;
  readonly tag?: readonly string[];
  /** False to remove all tags. */
  readonly tags: boolean;
}

/**
 * `dropcast videos update ID`: prints the changed video if the service returns it.
 *
 * @throws {CommandError} when there are no changes
 */
export function updateVideo(options: UpdateVideoOptions) {
  const changes = videoChanges(options);
  return async ({ shell, client }: Session, { json }: Json, id: string): Promise<void> => {
    const video = await client.videos.update(id, changes, { signal: shell.stopping });
    printResult({ id, video: video && videoForm(video) }, { shell, json }, () =>
      video === null ? `Changed ${escapeControls(id)}.\n` : renderDetails(videoDetails(video), shell),
    );
  };
}

/**
 * The requested changes.
 *
 * @throws {CommandError} when there are none
 */
export function videoChanges({ title, description, tag, tags }: UpdateVideoOptions): VideoChanges {
  const changes = given({ title, description, tags: tags ? tag : [] });
  if (Object.keys(changes).length > 0) return changes;
  throw new CommandError('nothing to change: give --title, --description, --tag or --no-tags', exitCodes.usage);
}

export interface DeleteVideoOptions extends Json {
  readonly yes?: boolean;
}

/** `dropcast videos delete ID`: deletes permanently, so asks for confirmation first. */
export async function deleteVideo(session: Session, { yes, json }: DeleteVideoOptions, id: string): Promise<void> {
  const { shell, client } = session;
  if (yes !== true) await requireConfirmation(session, id);
  await client.videos.delete(id, { signal: shell.stopping });
  printResult({ id, deleted: true }, { shell, json }, () => `Deleted ${escapeControls(id)}.\n`);
}

/** Width of the title in terminal columns. Enough to recognise a video; a title may have thousands of characters. */
const TITLE_WIDTH = 60;

/** @throws {CommandError} when the user declines, or there is no terminal */
async function requireConfirmation({ shell, client }: Session, id: string): Promise<void> {
  const name = escapeControls(id);
  if (!canAsk(shell))
    throw new CommandError(
      `deleting ${name} cannot be undone, so it needs a confirmation. Not a terminal: pass --yes.`,
      exitCodes.usage,
    );
  const { title, status } = await client.videos.get(id, { signal: shell.stopping });
  const titled = title === undefined ? name : `${name} "${cutEnd(escapeControls(title), TITLE_WIDTH)}"`;
  const question = `Delete ${titled} (${escapeControls(status)}) and everything that belongs to it? This cannot be undone.`;
  if (!(await confirm(shell, question))) throw new CommandError('nothing was deleted');
}

/**
 * A video as `--json` prints it: the API's field names (api-spec section 2), and null for anything the service omitted.
 */
export function videoForm(video: Video) {
  return {
    id: video.id,
    title: video.title ?? null,
    status: video.status,
    description: video.description ?? null,
    channel_id: video.channelId ?? null,
    tags: video.tags ?? null,
    duration: video.duration ?? null,
    created_at: video.createdAt ?? null,
    thumbnail_url: video.thumbnailUrl ?? null,
    embed_url: video.embedUrl ?? null,
    source_url: video.sourceUrl ?? null,
    message: video.message ?? null,
  };
}

/** A list entry (api-spec section 2.1). Fields that the specification does not name are omitted if missing, not null. */
function videoListForm(video: VideoListItem) {
  const { description, tags, message } = video;
  return {
    id: video.id,
    title: video.title || null,
    status: video.status,
    duration: video.duration ?? null,
    created_at: video.createdAt || null,
    thumbnail_url: video.thumbnailUrl ?? null,
    embed_url: video.embedUrl || null,
    ...given({ description, channel_id: video.channelId, tags, source_url: video.sourceUrl, message }),
  };
}

export function videoDetails(video: Video): readonly Detail[] {
  return [
    ['id', video.id],
    ['title', video.title || null],
    ['status', video.status, statusStyle(video.status)],
    ['why', video.message ?? null],
    // Only a description may span several lines.
    ['description', video.description?.split('\n') ?? null],
    ['channel', video.channelId ?? null],
    ['tags', video.tags?.join(', ') || null],
    ['length', lengthOf(video)],
    ['created', video.createdAt || null],
    ['imported from', video.sourceUrl ?? null],
    ['thumbnail', video.thumbnailUrl ?? null],
    ['embed', video.embedUrl || null],
  ];
}

/** @param record.status null if the service was not asked for it */
export function recordDetails({ id, status }: { readonly id: string; readonly status: string | null }): Detail[] {
  return [
    ['id', id],
    ['status', status, statusStyle(status ?? '')],
  ];
}

function statusStyle(status: string): Style | null {
  if (status === 'ready') return 'green';
  if (status === 'failed') return 'red';
  return status === 'pending' || status === 'processing' ? 'yellow' : null;
}

function lengthOf({ duration }: Video): string | null {
  return duration === undefined ? null : formatDuration(duration * 1000);
}
