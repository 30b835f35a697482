import type { Failure } from '../pipeline/file/failure.ts';
import type { LocalFiles } from '../pipeline/file/ports.ts';
import { folderAway } from '../pipeline/pause.ts';

/**
 * Files in a folder that another dropcast has are left alone, also those that our ledger knows: as with a folder that is away,
 * their rows wait. So do those in a folder that does not answer: each call there would hold a thread, and a slot that others need. And
 * those that only other hosts of a fleet can read: not to find one here proves nothing.
 *
 * @param whyOffLimits says why nothing in a folder may be touched, or null
 */
export function keptOff(local: LocalFiles, whyOffLimits: (folder: string) => string | null): LocalFiles {
  const offLimits = (folder: string): Failure | null => {
    const why = whyOffLimits(folder);
    return why === null ? null : { kind: 'suspended', code: folderAway, message: `${folder}: ${why}` };
  };
  const unless = async <T extends { readonly folder: string }, A>(
    file: T,
    work: (file: T) => Promise<A>,
  ): Promise<A | { readonly ok: false; readonly failure: Failure }> => {
    const failure = offLimits(file.folder);
    return failure === null ? await work(file) : { ok: false, failure };
  };
  return {
    check: async (facts) => offLimits(facts.folder) ?? (await local.check(facts)),
    hash: (facts, ...how) => unless(facts, (file) => local.hash(file, ...how)),
    checksums: (file) => unless(file, local.checksums),
    dispose: (facts, ...how) => unless(facts, (file) => local.dispose(file, ...how)),
  };
}
