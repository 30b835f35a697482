import type { RootStore } from '../../src/watch/ports.ts';

/** Remembers nothing of the folders, and expects no file. */
export const noRoots: RootStore = {
  load: async () => null,
  save: async () => undefined,
  expected: async () => 0,
};
