import type { Failure } from '../pipeline/file/failure.ts';
import type { LocalFiles } from '../pipeline/file/ports.ts';
import { folderAway } from '../pipeline/pause.ts';

/**
 * Files in a folder that another dropcast has are left alone, also those that our ledger knows: as with a folder that is away,
 * their rows wait. So do those in a folder that does not answer: each call there would hold a thread, and a slot that others need.
 *
 * @param whyOffLimits says why nothing in a folder may be touched, or null
 */
export function keptOff(local: LocalFiles, whyOffLimits: (folder: string) => string | null): LocalFiles {
  const offLimits = (folder: string): Failure | null => {
    const why = whyOffLimits(folder);
    return why === null ? null : { kind: 'suspended', code: folderAway, message: `${folder}: ${why}` };
  };
  return {
    ...local,
    check: async (facts) => offLimits(facts.folder) ?? (await local.check(facts)),
    dispose: async (facts, ...how) => {
      const failure = offLimits(facts.folder);
      return failure === null ? await local.dispose(facts, ...how) : { ok: false, failure };
    },
  };
}
