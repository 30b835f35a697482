import type { Context } from 'hono';
import { randomBytes } from 'node:crypto';
import type { Handler } from '../http/handler.ts';
import type { Video, VideoMedia } from '../store/videos.ts';
import type { Services } from '../services.ts';
import { embedMediaUrl } from '../http/links.ts';
import { noticePage, playerPage, type Html } from './pages.ts';
import { playerSettings } from './player-settings.ts';
import { giveCookie } from './viewer-cookie.ts';

export type EmbedParts = Pick<Services, 'settings' | 'records' | 'lifecycle' | 'clock' | 'events' | 'links'>;

/**
 * GET /embed/:id: the player, which any site may frame. A deleted video is unavailable immediately (api-spec section
 * 3). assumed: its page is a 404, and a video that is not ready or has failed gets 200 with a notice.
 */
export function showPage(parts: EmbedParts): Handler {
  return (context) => {
    parts.lifecycle.advance();
    const video = parts.records.videos.find(context.req.param('id') ?? '');
    const nonce = randomBytes(16).toString('base64');
    if (!video) return answer(context, 404, { nonce, page: noticePage({ ...NOT_FOUND, nonce }) });
    if (!video.media) return answer(context, 200, { nonce, page: noticePage({ ...noticeOf(video), nonce }) });
    giveCookie(context);
    const mediaOrigin = new URL(parts.links.thumbnail(video.id)).origin;
    return answer(context, 200, { nonce, mediaOrigin, page: pageOf(video, video.media, { ...parts, nonce }) });
  };
}

const NOT_FOUND = { heading: 'Video not found', text: 'This video does not exist, or it was deleted.' };

function noticeOf({ status }: Video) {
  if (status === 'failed') return { heading: 'Video not available', text: 'This video could not be processed.' };
  return { heading: 'Not ready yet', text: 'This video is still being processed.', isWaiting: true };
}

function pageOf(
  video: Video,
  media: VideoMedia,
  { records, links, nonce }: Pick<EmbedParts, 'records' | 'links'> & { nonce: string },
): Html {
  return playerPage({
    title: video.title,
    isAudio: media.mediaType.startsWith('audio/'),
    mediaUrl: embedMediaUrl(links.media(video.id, media.fileExtension)),
    posterUrl: links.thumbnail(video.id),
    playsPath: `/embed/${video.id}/plays`,
    settings: playerSettings(records.channels.find(video.channelId)?.defaultPlayerSettings ?? {}),
    nonce,
  });
}

interface PageAnswer {
  readonly nonce: string;
  readonly page: Html;
  readonly mediaOrigin?: string;
}

/** Sends the page without X-Frame-Options or frame-ancestors, because it is made for frames. */
function answer(context: Context, status: 200 | 404, { nonce, page, mediaOrigin = '' }: PageAnswer) {
  return context.html(page, status, {
    'Content-Security-Policy': contentSecurityPolicy(nonce, mediaOrigin),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  });
}

function contentSecurityPolicy(nonce: string, mediaOrigin: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    `img-src 'self' data: ${mediaOrigin}`.trim(),
    `media-src 'self' ${mediaOrigin}`.trim(),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}
