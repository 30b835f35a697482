import { randomBytes } from 'node:crypto';
import type { World } from '../../world/world.ts';

/** Whatever lay there before was looked at when a file that comes now is through. */
export async function everythingWasSeen(world: World): Promise<void> {
  const name = `seen-${randomBytes(4).toString('hex')}.mpg`;
  await world.drop(name);
  await world.reaches(name, 'done');
}

export function isReady(world: World, title: string): boolean {
  return [...world.service.host.videos.values()].some((video) => video.title === title && video.status === 'ready');
}
