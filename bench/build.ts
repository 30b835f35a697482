import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Build } from './bench.ts';
import { output } from './child.ts';

const root = join(import.meta.dirname, '..');

/** This checkout, as it lies on the disk. */
export function openHere(): Promise<OpenBuild> {
  return bundled('here', root);
}

/**
 * Checks another revision out into a temporary folder, with its dependencies.
 *
 * @param revision anything that git knows
 * @throws {Error} git does not know it, or its dependencies cannot be installed
 */
export async function checkOut(revision: string): Promise<OpenBuild> {
  const folder = await mkdtemp(join(tmpdir(), 'dropcast-against-'));
  await using stack = new AsyncDisposableStack();
  stack.defer(async () => void (await output('git', ['-C', root, 'worktree', 'prune'])));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await output('git', ['-C', root, 'worktree', 'add', '--quiet', '--detach', '--force', folder, revision]);
  await installDependencies(folder);
  const build = stack.use(await bundled(revision, folder));
  const all = stack.move();
  return { ...build, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** A build on a Node with further flags, like `--jitless`, which the environment cannot give it. */
export async function withFlags(build: Build, flags: string): Promise<OpenBuild> {
  const folder = await mkdtemp(join(tmpdir(), 'dropcast-flags-'));
  const node = join(folder, 'node');
  await writeFile(node, `#!/bin/sh\nexec '${build.node}' ${flags} "$@"\n`, { mode: 0o755 });
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  return { ...build, name: flags, node, [Symbol.asyncDispose]: remove };
}

/** Owns the temporary files of a build. */
export type OpenBuild = Build & AsyncDisposable;

/** Bundled by its own scripts, as for the Debian package. */
async function bundled(name: string, from: string): Promise<OpenBuild> {
  const node = join(from, 'node_modules/.bin/node');
  const folder = await mkdtemp(join(tmpdir(), 'dropcast-bundle-'));
  const script = `
    const { programFiles } = await import(${JSON.stringify(join(from, 'scripts/package/contents.ts'))});
    const { writeTree } = await import(${JSON.stringify(join(from, 'scripts/package/packaged-file.ts'))});
    await writeTree((await programFiles(${JSON.stringify(from)})).files, ${JSON.stringify(folder)}, 0);`;
  await output(node, ['--input-type=module', '-e', script], { cwd: from });
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const program = join(folder, 'usr/lib/dropcast/dist/main.js');
  return { name, root: from, node, program, [Symbol.asyncDispose]: remove };
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
