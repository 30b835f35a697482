import type { Failure } from '../pipeline/file/failure.ts';
import type { LocalFiles } from '../pipeline/file/ports.ts';
import { folderAway } from '../pipeline/pause.ts';

/**
 * Files in a folder that another dropcast has are left alone, also those that our ledger knows: as with a folder that is away,
 * their rows wait.
 *
 * @param whyForeign says why another dropcast has a folder, or null
 */
export function keptOff(local: LocalFiles, whyForeign: (folder: string) => string | null): LocalFiles {
  const foreign = (folder: string): Failure | null => {
    const why = whyForeign(folder);
    return why === null ? null : { kind: 'suspended', code: folderAway, message: `${folder}: ${why}` };
  };
  return {
    ...local,
    check: async (facts) => foreign(facts.folder) ?? (await local.check(facts)),
    dispose: async (facts, ...how) => {
      const failure = foreign(facts.folder);
      return failure === null ? await local.dispose(facts, ...how) : { ok: false, failure };
    },
  };
}
