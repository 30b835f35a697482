import { Hono } from 'hono';
import { answerElsewhere } from './api-error.ts';
import type { Handler } from './handler.ts';

/**
 * Loads the modules of a part of the site at its first request; further requests wait for the load. Loading all parts
 * at startup would double its time and memory, and a program that tests its uploads never requests a feed or the page.
 * @param load is called again by a later request after it rejected
 * @returns a handler for all paths of the part. It throws what the part's routes throw, and ApiError 404 or 405 for
 *   paths without a route
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

/** Leaves errors to the caller: Hono would answer them with its own texts. */
function partOfSite(routes: Hono): Hono {
  const part = new Hono().route('/', routes);
  part.notFound(({ req }) => answerElsewhere(req.method, req.path));
  part.onError((error) => {
    throw error;
  });
  return part;
}
