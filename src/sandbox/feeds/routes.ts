import { Hono } from 'hono';
import type { World } from '../world.ts';

/** The published feeds, at their addresses. */
export function createFeedRoutes(_world: World): Hono {
  return new Hono();
}
