import { lstat, unlink } from 'node:fs/promises';
import { posix } from 'node:path';
import { versionOf } from '../../pipeline/file/file-version.ts';
import type { FileVersion } from '../../pipeline/file/file-version.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { Failure } from '../../pipeline/file/failure.ts';
import type { Answer } from '../../pipeline/file/ports.ts';
import { renderDirectory } from '../../routing/template.ts';
import { inDirectory } from '../held-directory.ts';
import { moveFile } from './move-file.ts';
import type { PutAwayFile } from './put-away.ts';

// To add an action: its type in config/config.ts, its words in config/schema.ts, its arguments (if any) in config/assemble.ts, and its
// case here. `actionOf` does not compile until that case exists.

export interface PutAwayAction {
  /** Directories that lose or gain a name, relative to the folder. */
  readonly directories: readonly string[];
  /**
   * @param from the path of the file, through the directory that holds it now
   * @param version that was found there a moment ago
   */
  run(from: string, version: FileVersion): Promise<PutAwayFile>;
}

/**
 * The action for a file whose video is ready.
 *
 * @returns a failure for an action that this version does not know (the ledger of a newer one): the file then stays where it is
 */
export function actionOf(facts: Facts): Answer<PutAwayAction> {
  const { afterReady } = facts;
  switch (afterReady.kind) {
    case 'delete':
      return { ok: true, value: deletion(facts) };
    case 'move':
      return { ok: true, value: moveTo(afterReady.to, facts) };
    case 'keep':
      return { ok: false, failure: refused('nothing_to_put_away', 'after_ready is "keep"') };
    default:
      return { ok: false, failure: unknownAction(afterReady satisfies never) };
  }
}

function deletion({ path }: Facts): PutAwayAction {
  return {
    directories: [posix.dirname(path)],
    run: async (from) => {
      await unlink(from);
      return null;
    },
  };
}

/** @param template of a directory inside the folder */
function moveTo(template: string, { id, folder, path, version }: Facts): PutAwayAction {
  const { dir } = posix.parse(path);
  const to = renderDirectory(template, { path, modifiedMs: Number(BigInt(version.mtimeNs) / 1_000_000n) });
  if (to === dir) return { directories: [], run: async (_, version) => ({ path, version }) };
  return {
    directories: [dir, to],
    run: (from, version) =>
      inDirectory({ folder, directory: to, make: true }, async (target) => {
        const name = await moveFile(from, target, id);
        if (name === null) return { path, version };
        const moved = await lstat(target.at(name), { bigint: true });
        return { path: posix.join(to, name), version: versionOf(moved) };
      }),
  };
}

function unknownAction(action: unknown): Failure {
  const { kind }: { readonly kind?: unknown } = action ?? {};
  return refused(
    'unknown_after_ready',
    `this version of dropcast does not know the after_ready action ${JSON.stringify(kind)}`,
  );
}

function refused(code: string, message: string): Failure {
  return { kind: 'permanent', code, message };
}
