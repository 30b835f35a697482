import { Hono } from 'hono';
import type { World } from '../world.ts';

/** The admin side below /_sandbox/, with a token of its own and never limited. */
export function createAdminRoutes(_world: World): Hono {
  return new Hono();
}
