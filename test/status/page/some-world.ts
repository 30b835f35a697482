import type { Daemon } from '../../../src/daemon/daemon.ts';
import { createMemory } from '../../../src/status/page/memory.ts';
import type { PageWorld } from '../../../src/status/page/world.ts';

/** What a view is made from, for a reader who may only look. */
export function someWorld(daemon: Daemon, more: Pick<PageWorld, 'now'> & Partial<PageWorld>): PageWorld {
  return {
    daemon,
    picture: daemon.picture,
    mayChange: false,
    theme: undefined,
    memory: createMemory(daemon),
    testNotifications: async () => [],
    ...more,
  };
}
