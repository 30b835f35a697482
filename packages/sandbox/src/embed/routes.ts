import { Hono } from 'hono';
import { z } from 'zod';
import { EmbedPlays } from '../analytics/embed-plays.ts';
import { ApiError } from '../http/api-error.ts';
import type { Handler } from '../http/handler.ts';
import { showPage, type EmbedParts } from './show-page.ts';
import { jsonBody } from '../http/input.ts';
import { viewerOf } from './viewer-cookie.ts';

/** Routes for each video's embed page (api-spec section 2.1) and its player's reports. */
export function createEmbedRoutes(parts: EmbedParts): Hono {
  const plays = new EmbedPlays(parts);
  return new Hono()
    .get('/embed/:id', showPage(parts))
    .post('/embed/:id/plays', openPlay(plays, parts.settings.seed))
    .post('/embed/:id/plays/:play', reportPlay(plays))
    .all('/embed/:id', otherMethod('GET, HEAD, OPTIONS'))
    .all('/embed/:id/plays', otherMethod('POST, OPTIONS'))
    .all('/embed/:id/plays/:play', otherMethod('POST, OPTIONS'));
}

function otherMethod(allow: string): Handler {
  return (context) => {
    if (context.req.method === 'OPTIONS') return context.body(null, 204, { Allow: allow });
    throw new ApiError('method_not_allowed', `This path allows ${allow}.`, { Allow: allow });
  };
}

/**
 * POST /embed/:id/plays: the player has started. assumed: every page that plays is one view, and a reload is another;
 * playing again in the same page is not. Only JSON is accepted, so that other sites' pages cannot create plays without
 * a CORS preflight.
 */
function openPlay(plays: EmbedPlays, seed: number): Handler {
  return async (context) => {
    await jsonBody(context.req.raw, openBody, { maxBytes: MAX_BODY_BYTES });
    const opened = plays.open(context.req.param('id') ?? '', viewerOf(context, seed));
    if ('playId' in opened) return context.json({ play_id: opened.playId }, 201);
    if (opened.refusal === 'not ready') throw new ApiError('conflict', 'This video is not ready to play.');
    throw new ApiError('not_found', 'There is no such video.');
  };
}

/** POST /embed/:id/plays/:play: progress of a play. A deleted video has no plays, so its player gets 404. */
function reportPlay(plays: EmbedPlays): Handler {
  return async (context) => {
    const { id = '', play = '' } = context.req.param();
    const body = await jsonBody(context.req.raw, reportBody, { maxBytes: MAX_BODY_BYTES });
    const isKnown = plays.report(id, play, { watchedS: body.watched_seconds, isEnded: body.ended });
    if (!isKnown) throw new ApiError('not_found', 'There is no such play of this video.');
    return context.body(null, 204);
  };
}

const MAX_BODY_BYTES = 4096;

const openBody = z.strictObject({});

const reportBody = z.strictObject({
  watched_seconds: z.number('must be a number').min(0, 'must not be below 0'),
  ended: z.boolean('must be true or false'),
});
