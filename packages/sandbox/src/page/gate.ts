import type { MiddlewareHandler } from 'hono';
import { enterByLink, isAdmin } from '../admin/require-admin.ts';
import type { World } from '../world.ts';
import { strangerPage } from './layout.ts';
import { showPage } from './show-page.ts';

type Guarded = Pick<World, 'adminToken' | 'links'>;

/** Who comes by the printed address is let in; all others see how to, and nothing else. @throws ApiError 401, 403 */
export function gate(world: Guarded): MiddlewareHandler[] {
  return [
    enterByLink(world),
    async (context, next) => {
      if (!isAdmin(context, world)) return showPage(context, strangerPage(), 401);
      return next();
    },
  ];
}
