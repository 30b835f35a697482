import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { createAdminRoutes } from '../admin/routes.ts';
import { createEmbedRoutes } from '../embed/routes.ts';
import { createFeedRoutes } from '../feeds/routes.ts';
import { createPageRoutes } from '../page/routes.ts';
import type { World } from '../world.ts';
import { requireAccess } from './access.ts';
import { createApi } from './api.ts';
import { answerElsewhere, errorResponse } from './refusals.ts';
import { createContractRoutes } from './contract-document.ts';

/** Everything of the service but the bytes of files: API, feeds, embeds, admin side and page; 404 everywhere else. */
export function createSite(world: World): Hono<{ Bindings: HttpBindings }> {
  const site = new Hono<{ Bindings: HttpBindings }>();
  site.use('/v1/*', requireAccess(world));
  site.route('/', createApi(world));
  site.route('/', createContractRoutes());
  site.route('/', createFeedRoutes(world));
  site.route('/', createEmbedRoutes(world));
  site.route('/', createAdminRoutes(world));
  site.route('/', createPageRoutes(world));
  site.notFound((context) => answerElsewhere(context.req.method, context.req.path));
  site.onError((error) => errorResponse(error, world.onDefect));
  return site;
}
