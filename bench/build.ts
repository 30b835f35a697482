import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Build } from './bench.ts';
import { output } from './child.ts';

const root = join(import.meta.dirname, '..');

/** This checkout, as it lies on the disk. */
export const here: Build = buildAt('here', root);

/**
 * Checks another revision out into a temporary folder, with its dependencies.
 *
 * @param revision anything that git knows
 * @throws {Error} git does not know it, or its dependencies cannot be installed
 */
export async function checkOut(revision: string): Promise<Build & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'dropcast-against-'));
  const remove = async (): Promise<void> => {
    await rm(folder, { recursive: true, force: true });
    await output('git', ['-C', root, 'worktree', 'prune']);
  };
  try {
    await output('git', ['-C', root, 'worktree', 'add', '--quiet', '--detach', '--force', folder, revision]);
    await installDependencies(folder);
  } catch (error) {
    await remove();
    throw error;
  }
  return { ...buildAt(revision, folder), [Symbol.asyncDispose]: remove };
}

/** This checkout on a Node with further flags, like `--jitless`, which the environment cannot give it. */
export async function withFlags(flags: string): Promise<Build & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'dropcast-flags-'));
  const node = join(folder, 'node');
  await writeFile(node, `#!/bin/sh\nexec '${here.node}' ${flags} "$@"\n`, { mode: 0o755 });
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  return { ...here, name: flags, node, [Symbol.asyncDispose]: remove };
}

function buildAt(name: string, folder: string): Build {
  return { name, root: folder, node: join(folder, 'node_modules/.bin/node') };
}

/** Those that are here are copied where both want the same: no registry is needed then. */
async function installDependencies(folder: string): Promise<void> {
  const [wanted, present] = await Promise.all(
    [folder, root].map((of) => readFile(join(of, 'package-lock.json'), 'utf8')),
  );
  if (wanted !== present) {
    await output('npm', ['ci', '--prefix', folder]);
    return;
  }
  for (const modules of ['node_modules', 'packages/sandbox/node_modules'])
    await cp(join(root, modules), join(folder, modules), { recursive: true, verbatimSymlinks: true });
}
