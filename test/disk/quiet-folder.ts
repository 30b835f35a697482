import { createLocalFiles } from '../../src/disk/local-files.ts';
import type { LocalFiles } from '../../src/pipeline/file/ports.ts';

type World = Parameters<typeof createLocalFiles>[0];

/** The files of folders that are there, that are watched, and in which nobody writes. */
export function filesOfQuietFolders(other: Partial<World> = {}): LocalFiles {
  return createLocalFiles({
    whyAway: async () => null,
    writerOf: async () => null,
    isSidecarUsed: async () => false,
    isWatched: () => true,
    service: null,
    ...other,
  });
}
