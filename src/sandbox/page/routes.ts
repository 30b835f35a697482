import { Hono } from 'hono';
import type { World } from '../world.ts';

/** The page to look at. */
export function createPageRoutes(_world: World): Hono {
  return new Hono();
}
