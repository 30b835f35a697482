import { Hono } from 'hono';
import type { World } from '../world.ts';

/** The embed page of each video, and the reports of its player. */
export function createEmbedRoutes(_world: World): Hono {
  return new Hono();
}
