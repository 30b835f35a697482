import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { readFile } from 'node:fs/promises';
import { createAdminRoutes } from '../admin/routes.ts';
import { createEmbedRoutes } from '../embed/routes.ts';
import { createFeedRoutes } from '../feeds/routes.ts';
import { createPageRoutes } from '../page/routes.ts';
import type { Services } from '../services.ts';
import { requireAccess } from './access.ts';
import { createApi } from './api.ts';
import { answerElsewhere, errorResponse, ApiError } from './api-error.ts';
import { packageFile } from '../package-files.ts';

/** API, feeds, embeds, admin side and page: everything except uploads and media files. 404 everywhere else. */
export function createSite(services: Services): Hono<{ Bindings: HttpBindings }> {
  const site = new Hono<{ Bindings: HttpBindings }>();
  site.use('/v1/*', requireAccess(services));
  site.route('/', createApi(services));
  site.route('/', createContractRoutes());
  site.route('/', createFeedRoutes(services));
  site.route('/', createEmbedRoutes(services));
  site.route('/', createAdminRoutes(services));
  site.route('/', createPageRoutes(services));
  site.notFound((context) => answerElsewhere(context.req.method, context.req.path));
  site.onError((error) => errorResponse(error, services.onDefect));
  return site;
}

/** GET /openapi.yaml: the contract of this very version, for OpenAPI tools. Needs no key, because it reveals nothing of the account. */
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
