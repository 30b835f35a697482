import type { BigIntStats } from 'node:fs';
import { lstat, stat, unlink } from 'node:fs/promises';
import { posix } from 'node:path';
import { versionOf } from '../../pipeline/file/file-version.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { Failure } from '../../pipeline/file/failure.ts';
import type { Answer, FileAt } from '../../pipeline/file/ports.ts';
import { renderDirectory } from '../../routing/template.ts';
import { inDirectory } from '../held-directory.ts';
import type { HeldDirectory } from '../held-directory.ts';
import { freeNames, moveFile, nameLimits, removePartial } from './move-file.ts';
import type { MovableFile } from './move-file.ts';

// To add an action, add its type and its setting to config/schema-folder.ts, and its case here. `actionOf` does not
// compile until that case exists.

/** Location of a file that was put away; null if it was deleted. */
export type PutAwayFile = FileAt | null;

export interface PutAwayAction {
  /** Directories that lose or gain a name, relative to the folder. */
  readonly directories: readonly string[];
  /** Whether files in this directory are already in their final place. */
  isDone(held: HeldDirectory): Promise<boolean>;
  /** @param file a file that no other process can reach by name, with the content that was sent */
  run(file: MovableFile): Promise<PutAwayFile>;
  /**
   * Looks for a missing file where a crashed run may have put it.
   *
   * @returns undefined if it is not there
   */
  find(is: (path: string, stats: BigIntStats) => Promise<boolean>): Promise<PutAwayFile | undefined>;
}

/**
 * Returns the action for a file whose video is ready.
 *
 * @returns a failure for an action that this version does not know, from a newer version's ledger; the file then stays
 *   where it is
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
    isDone: async () => false,
    run: async (file) => {
      await file.confirm();
      await unlink(file.path);
      return null;
    },
    find: async () => undefined,
  };
}

/** @param template of a directory inside the folder */
function moveTo(template: string, { id, folder, path, version }: Facts): PutAwayAction {
  const { dir, base } = posix.parse(path);
  const to = renderDirectory(template, { path, modifiedMs: Number(BigInt(version.mtimeNs) / 1_000_000n) });
  const inTarget = <T>(work: (target: HeldDirectory) => Promise<T>): Promise<T> =>
    inDirectory({ folder, directory: to, make: true }, work);
  const movedTo = async (target: HeldDirectory, name: string): Promise<PutAwayFile> => {
    const stats = await lstat(target.at(name), { bigint: true });
    return { path: posix.join(to, name), version: versionOf(stats) };
  };
  return {
    directories: [dir, to],
    // Compares directories, because `Done` and `done` are the same on a case-insensitive file system.
    isDone: async (held) => to === dir || (await inTarget((target) => isSameDirectory(held, target))),
    run: (file) => inTarget(async (target) => movedTo(target, await moveFile(file, target))),
    find: (is) =>
      inTarget(async (target) => {
        await removePartial(id, target);
        for (const most of nameLimits)
          for (const name of freeNames(base, most)) {
            const stats = await lstat(target.at(name), { bigint: true }).catch(() => null);
            if (stats === null) break;
            if (stats.isFile() && (await is(target.at(name), stats))) return movedTo(target, name);
          }
        return undefined;
      }),
  };
}

async function isSameDirectory(one: HeldDirectory, other: HeldDirectory): Promise<boolean> {
  const [a, b] = await Promise.all([stat(one.at('.'), { bigint: true }), stat(other.at('.'), { bigint: true })]);
  return a.ino === b.ino && a.dev === b.dev;
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
