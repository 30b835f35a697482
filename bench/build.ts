import { mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Build } from './bench.ts';
import { output } from './child.ts';

// What is made here stays until the run ends (leave-nothing.ts).

const root = join(import.meta.dirname, '..');

/** This checkout, as it lies on the disk. */
export function buildHere(): Promise<Build> {
  return bundled('here', root);
}

/**
 * Checks another revision out into a temporary folder, with its dependencies.
 *
 * @param revision anything that git knows
 * @throws {Error} git does not know it, or its dependencies cannot be installed
 */
export async function checkOut(revision: string): Promise<Build> {
  const folder = await workTree(revision);
  await installDependencies(folder);
  return bundled(revision, folder);
}

/** Another revision in a temporary folder, without dependencies. @throws {Error} git does not know it */
export async function workTree(revision: string): Promise<string> {
  const folder = await temporary('against');
  await output('git', ['-C', root, 'worktree', 'add', '--quiet', '--detach', '--force', folder, revision]);
  return folder;
}

/** A build on a Node with further flags, which the environment cannot give it. */
export async function withFlags(build: Build, flags: string): Promise<Build> {
  return { ...build, name: flags, node: await nodeWith(build.node, flags) };
}

/** A build with V8's compilers, which the unit does without (decision 34). */
export async function withCompiler(build: Build): Promise<Build> {
  const flags = (await flagsOfTheUnit(build.root)).replace('--jitless ', '');
  return { ...build, name: 'with the compiler', node: await nodeWith(build.plainNode, flags) };
}

async function nodeWith(node: string, flags: string): Promise<string> {
  const script = join(await temporary('flags'), 'node');
  await writeFile(script, `#!/bin/sh\nexec '${node}' ${flags} "$@"\n`, { mode: 0o755 });
  return script;
}

/** The flags of the service's unit, and the heap that Node takes under its `MemoryHigh=384M`. */
async function flagsOfTheUnit(from: string): Promise<string> {
  const unit = await readFile(join(from, 'systemd/dropcast.service'), 'utf8');
  const [, flags] = /^ExecStart=\S+node (.*) \S+main\.js/m.exec(unit) ?? [];
  if (flags === undefined) throw new Error('systemd/dropcast.service starts no Node');
  return `${flags} --max-old-space-size=256`;
}

/** A checkout with dependencies, bundled by its own scripts, as for the Debian package. */
export async function bundled(name: string, from: string): Promise<Build> {
  const plainNode = join(from, 'node_modules/.bin/node');
  const folder = await temporary('bundle');
  const script = `
    const { programFiles } = await import(${JSON.stringify(join(from, 'scripts/package/contents.ts'))});
    const { writeTree } = await import(${JSON.stringify(join(from, 'scripts/package/packaged-file.ts'))});
    await writeTree((await programFiles(${JSON.stringify(from)})).files, ${JSON.stringify(folder)}, 0);`;
  await output(plainNode, ['--input-type=module', '-e', script], { cwd: from });
  const node = await nodeWith(plainNode, await flagsOfTheUnit(from));
  return { name, root: from, node, plainNode, program: join(folder, 'usr/lib/dropcast/dist/main.js') };
}

/** Those that are here are linked where both want the same: no registry is needed then. */
async function installDependencies(folder: string): Promise<void> {
  const [wanted, present] = await Promise.all(
    [folder, root].map((of) => readFile(join(of, 'package-lock.json'), 'utf8')),
  );
  await (wanted === present ? linkDependencies(folder) : output('npm', ['ci', '--prefix', folder]));
}

/** The libraries of this checkout, linked, and the packages of the other one. */
export async function linkDependencies(folder: string): Promise<void> {
  const ours = '@dropcast';
  const link = async (from: string, to: string, except?: string): Promise<void> => {
    await mkdir(to, { recursive: true });
    // npm puts a package's own libraries at the top where it can.
    const names = (await readdir(from).catch(() => [])).filter((name) => name !== except);
    await Promise.all(names.map((name) => symlink(join(from, name), join(to, name))));
  };
  await link(join(root, 'node_modules'), join(folder, 'node_modules'), ours);
  await link(join(root, 'packages/sandbox/node_modules'), join(folder, 'packages/sandbox/node_modules'));
  await link(join(folder, 'packages'), join(folder, 'node_modules', ours));
}

function temporary(what: string): Promise<string> {
  return mkdtemp(join(tmpdir(), `dropcast-${what}-`));
}
