import { posix } from 'node:path';
import { FileChangedError } from '@dropcast/client';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { FileAt } from '../../pipeline/file/ports.ts';
import type { SidecarFile } from '../../routing/plan.ts';
import { renamedSidecar } from '../../routing/sidecar.ts';
import { errnoOf } from '../../errno.ts';
import { inDirectory } from '../held-directory.ts';
import type { PutAwayAction } from './actions.ts';
import { RenamedError, inPrivateDirectory } from './private-directory.ts';
import { openSent } from './sent-file.ts';
import type { ContentChecks } from './sent-file.ts';

export interface SidecarChecks extends ContentChecks {
  /** Whether the sidecar still has another existing video. */
  readonly isSidecarUsed: (folder: string, sidecarPath: string) => Promise<boolean>;
}

/**
 * Moves or deletes a video's sidecar and proofs together with it, and with the same care. Otherwise the sidecar would
 * title the next file of that name, and the done marker would release it. A sidecar or proof stays if another video
 * needs it, or if its content is no longer what was applied.
 *
 * @param file the video's new place; null if it was deleted or is gone
 * @throws system errors; the next call continues
 */
export async function putAwaySidecar(
  facts: Facts,
  action: PutAwayAction,
  { file, checks }: { readonly file: FileAt | null; readonly checks: SidecarChecks },
): Promise<void> {
  const { sidecar, proofs = [] } = facts.plan ?? {};
  const besides = sidecar === undefined ? proofs : [sidecar, ...proofs];
  for (const beside of besides) await putAwayOne(beside, facts, { action, file, checks });
}

async function putAwayOne(
  sidecar: SidecarFile,
  { folder, path, id }: Facts,
  {
    action,
    file,
    checks,
  }: { readonly action: PutAwayAction; readonly file: FileAt | null; readonly checks: SidecarChecks },
): Promise<void> {
  const name = posix.basename(sidecar.path);
  const newName = file === null ? name : renamedSidecar(name, posix.basename(path), posix.basename(file.path));
  const inspect = async (): Promise<void> => {
    if (await checks.isSidecarUsed(folder, sidecar.path)) throw new StillUsedError('another video has it');
  };
  try {
    await inDirectory({ folder, directory: posix.dirname(sidecar.path) }, (held) =>
      inPrivateDirectory(held, { name, id, inspect }, async (own) => {
        await using sent = await openSent(
          own.at(name),
          { version: null, sha256: sidecar.sha256, sourceUrl: null },
          checks,
        );
        await action.run({ ...sent, path: own.at(name), name: newName, id });
      }),
    );
  } catch (error) {
    if (!staysWhereItIs(error)) throw error;
  }
}

class StillUsedError extends Error {
  override readonly name = 'StillUsedError';
}

/** Whether the error leaves a sidecar in place. Its directory may be gone by now, like the video. */
function staysWhereItIs(error: unknown): boolean {
  if (error instanceof RenamedError) return staysWhereItIs(error.cause);
  return error instanceof StillUsedError || error instanceof FileChangedError || errnoOf(error) === 'ENOENT';
}
