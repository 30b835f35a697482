import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { readFile } from 'node:fs/promises';
import type { Services } from '../services.ts';
import { requireAccess } from './access.ts';
import { answerElsewhere, errorResponse, ApiError } from './api-error.ts';
import { packageFile } from '../package-files.ts';
import type { Handler } from './input.ts';

/**
 * Creates the site: API, feeds, embeds, admin side and page, but not uploads and media files. Any other path is 404.
 */
export function createSite(services: Services): Hono<{ Bindings: HttpBindings }> {
  const site = new Hono<{ Bindings: HttpBindings }>();
  site.use('/v1/*', requireAccess(services));
  site.route('/', createContractRoutes());
  for (const [paths, load] of partsOf(services)) site.on('ALL', paths, lazily(load));
  site.notFound((context) => answerElsewhere(context.req.method, context.req.path));
  site.onError((error) => errorResponse(error, services.onDefect));
  return site;
}

function partsOf(services: Services): [paths: string[], load: () => Promise<Hono>][] {
  return [
    [['/v1/*'], async () => (await import('./api.ts')).createApi(services)],
    [['/feeds/*'], async () => (await import('../feeds/routes.ts')).createFeedRoutes(services)],
    [['/embed/*'], async () => (await import('../embed/routes.ts')).createEmbedRoutes(services)],
    [['/_sandbox/*'], async () => (await import('../admin/routes.ts')).createAdminRoutes(services)],
    [['/', '/_page/*'], async () => (await import('../page/routes.ts')).createPageRoutes(services)],
  ];
}

/**
 * GET /openapi.yaml: the contract of exactly this version, for OpenAPI tools. Needs no key, because it reveals nothing
 * about the account.
 */
function createContractRoutes(): Hono {
  const routes = new Hono();
  routes.get('/openapi.yaml', async (context) =>
    context.body(await readFile(packageFile('openapi.yaml')), 200, { 'Content-Type': 'application/yaml' }),
  );
  routes.all('/openapi.yaml', () => {
    throw new ApiError('method_not_allowed', 'The contract is read-only.', { Allow: 'GET, HEAD' });
  });
  return routes;
}

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
