import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerRefusal } from '../http/exchange.ts';
import { ApiError, isDefect, toApiError } from '../http/api-error.ts';
import type { RawListener } from '../http/server.ts';
import type { MediaFiles } from '../store/media-files.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Picture, Pictures } from '../media/pictures.ts';
import type { Records } from '../store/records.ts';
import type { VideoMedia } from '../store/videos.ts';
import { sendFile, type SentBytes } from './send-file.ts';

interface CdnParts {
  readonly records: Pick<Records, 'videos' | 'channels'>;
  readonly mediaFiles: MediaFiles;
  readonly lifecycle: Pick<Lifecycle, 'advance'>;
  readonly pictures: Pictures;
  /** Called after every read of a video's bytes, even if the client disconnected. Not called for HEAD and 304. */
  readonly onRead: (read: FinishedRead) => void;
  readonly onDefect: (error: unknown) => void;
}

export interface FinishedRead extends SentBytes {
  readonly videoId: string;
  /** Path and query of the request. */
  readonly target: string;
  readonly remoteAddress: string;
  /** '' if the client sent none. */
  readonly userAgent: string;
}

/**
 * Serves media, thumbnails and artwork below /cdn/ on the plain Node request, to avoid web streams for large files.
 * assumed: every new request for a deleted video gets 404 immediately; reads in progress complete.
 */
export function createCdnListener(parts: CdnParts): RawListener {
  return async (request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    try {
      if (request.method === 'OPTIONS') answerOptions(response);
      else await answer(request, response, parts);
    } catch (error) {
      refuse(response, error, parts.onDefect);
    }
  };
}

// Open to players, feed readers and validators on any site: no file is secret or runs as a page.
const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Accept-Ranges, Content-Length, Content-Range, ETag, Last-Modified, X-Placeholder',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
};
const METHODS = 'GET, HEAD, OPTIONS';

function answerOptions(response: ServerResponse): void {
  const preflight = { 'Access-Control-Allow-Methods': METHODS, 'Access-Control-Allow-Headers': '*' };
  response.writeHead(204, { Allow: METHODS, ...preflight, 'Access-Control-Max-Age': '86400' }).end();
}

async function answer(request: IncomingMessage, response: ServerResponse, parts: CdnParts): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw new ApiError('method_not_allowed', `This path allows ${METHODS}.`, { Allow: METHODS });
  const asked = fileAskedFor(request.url ?? '');
  if (asked?.folder === 'videos') return answerVideo({ request, response, ...asked }, parts);
  const picture = await pictureFor(asked, parts);
  if (!picture) throw NOTHING_HERE;
  if (picture.isPlaceholder) response.setHeader('X-Placeholder', 'true');
  await sendFile(request, response, { path: picture.path, mediaType: PICTURE_TYPES[parts.pictures.extension] });
}

interface AskedFile {
  readonly folder: string;
  readonly id: string;
  readonly extension: string;
}

const NOTHING_HERE = new ApiError('not_found', 'There is no such file.');
const PICTURE_TYPES = { jpg: 'image/jpeg', png: 'image/png' };

/** Parses a path without decoding it: only addresses exactly as the service writes them exist. */
function fileAskedFor(target: string): AskedFile | undefined {
  const [, folder, id, extension] = /^\/cdn\/(\w+)\/([\w-]{1,100})\.(\w{1,10})(?:\?.*)?$/.exec(target) ?? [];
  return folder && id && extension ? { folder, id, extension } : undefined;
}

type VideoRequest = AskedFile & { readonly request: IncomingMessage; readonly response: ServerResponse };

async function answerVideo({ request, response, id, extension }: VideoRequest, parts: CdnParts): Promise<void> {
  const media = readyMedia(id, parts);
  if (!media || media.fileExtension !== extension) throw NOTHING_HERE;
  const file = { path: parts.mediaFiles.pathOf(id), mediaType: media.mediaType, etag: `"${media.sha256}"` };
  const { url = '', headers, socket } = request;
  // Read in advance, because a socket loses its remote address when the connection is reset.
  const client = { target: url, remoteAddress: socket.remoteAddress ?? '', userAgent: headers['user-agent'] ?? '' };
  const sent = await sendFile(request, response, file);
  if (sent) parts.onRead({ videoId: id, ...client, ...sent });
}

async function pictureFor(asked: AskedFile | undefined, parts: CdnParts): Promise<Picture | undefined> {
  if (asked?.extension !== parts.pictures.extension) return undefined;
  if (asked.folder === 'thumbnails') return thumbnailOf(asked.id, parts);
  const isArtwork = asked.folder === 'artwork' && parts.records.channels.find(asked.id) !== undefined;
  return isArtwork ? parts.pictures.artwork(asked.id) : undefined;
}

async function thumbnailOf(videoId: string, parts: CdnParts): Promise<Picture | undefined> {
  const media = readyMedia(videoId, parts);
  if (!media) return undefined;
  const { era } = parts.mediaFiles;
  const picture = await parts.pictures.thumbnail(videoId, media);
  if (era !== parts.mediaFiles.era) return undefined; // this id now belongs to another video
  if (readyMedia(videoId, parts)) return picture;
  await parts.mediaFiles.remove(videoId); // deleted while its picture was made
  return undefined;
}

function readyMedia(videoId: string, { records, lifecycle }: CdnParts): VideoMedia | null {
  lifecycle.advance();
  return records.videos.find(videoId)?.media ?? null;
}

function refuse(response: ServerResponse, error: unknown, onDefect: (error: unknown) => void): void {
  const refusal = toApiError(error);
  if (isDefect(error)) onDefect(error);
  if (response.headersSent) response.destroy();
  else answerRefusal(response, refusal);
}
