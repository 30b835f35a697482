import { Hono } from 'hono';
import { answerElsewhere } from './api-error.ts';
import type { Handler } from './handler.ts';

/**
 * A part of the site whose modules are loaded for its first request; further requests wait for the load. Loading all
 * parts at the start would double its time and its memory, and a program that tests its uploads never requests a feed
 * or the page.
 * @param load is called again by a later request after it rejected
 * @returns a handler for all paths of the part. It throws what the part's routes throw, and ApiError 404 or 405 where
 *   it has none
 */
export function lazily(load: () => Promise<Hono>): Handler {
  let part: Promise<Hono> | undefined;
  return async ({ req, env }) => {
    part ??= load().then(partOfSite, (error: unknown) => {
      part = undefined;
      throw error;
    });
    return (await part).fetch(req.raw, env);
  };
}

/** Hono would answer errors itself, with its own words. */
function partOfSite(routes: Hono): Hono {
  const part = new Hono().route('/', routes);
  part.notFound(({ req }) => answerElsewhere(req.method, req.path));
  part.onError((error) => {
    throw error;
  });
  return part;
}
