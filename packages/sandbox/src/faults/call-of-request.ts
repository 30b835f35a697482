import type { IncomingMessage } from 'node:http';
import type { Records } from '../store/records.ts';
import type { BodyValve } from './body-valve.ts';
import type { Call } from './schedule.ts';

/** Finds the video and channel that a request's address names. */
export function callOf(operation: string, url: string, records: Pick<Records, 'videos' | 'feeds'>): Call {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const [first, collection, second = ''] = pathname.split('/').slice(1);
  const [what, id] = first === 'uploads' ? ['videos', collection ?? ''] : [collection, second];
  const videoId = what === 'videos' ? id : (searchParams.get('video_id') ?? '');
  const channelId =
    (what === 'channels' ? id : what === 'feeds' ? records.feeds.find(id)?.channelId : undefined) ??
    searchParams.get('channel_id') ??
    records.videos.find(videoId)?.channelId ??
    '';
  return { operation, videoId, channelId };
}

/** Reads a new video's channel, which only the body names. Leaves the body unread for the handler. */
export async function channelInBody(valve: BodyValve): Promise<string> {
  const body = await valve.peek(MOST_BODY_BYTES);
  try {
    const json: unknown = JSON.parse(body?.toString() ?? '');
    return isObject(json) && typeof json['channel_id'] === 'string' ? json['channel_id'] : '';
  } catch {
    return ''; // the handler will refuse it
  }
}

/** Maximum body size to read; the API refuses longer bodies. */
const MOST_BODY_BYTES = 1024 * 1024;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Whether the request has a body (RFC 9112 section 6). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
