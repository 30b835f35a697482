import { Hono } from 'hono';
import { EmbedPlays } from '../analytics/embed-plays.ts';
import { ApiError } from '../http/api-error.ts';
import type { Handler } from '../http/handler.ts';
import { openPlay, reportPlay } from './plays.ts';
import { showPage, type EmbedParts } from './show-page.ts';

/** The embed page of each video (api-spec section 2.1), and the reports of its player. */
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
