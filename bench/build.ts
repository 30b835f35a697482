import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
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
  const folder = await temporary('against');
  await output('git', ['-C', root, 'worktree', 'add', '--quiet', '--detach', '--force', folder, revision]);
  await installDependencies(folder);
  return bundled(revision, folder);
}

/** A build on a Node with further flags, like `--jitless`, which the environment cannot give it. */
export async function withFlags(build: Build, flags: string): Promise<Build> {
  return { ...build, name: flags, node: await nodeWith(build.node, flags) };
}

async function nodeWith(node: string, flags: string, environment = ''): Promise<string> {
  const script = join(await temporary('flags'), 'node');
  await writeFile(script, `#!/bin/sh\n${environment} exec '${node}' ${flags} "$@"\n`, { mode: 0o755 });
  return script;
}

/**
 * How the service's unit starts Node, but for `--jitless`, which `--flags=--jitless` adds: a ratio of both is then in one run. Of the
 * environment only what is about memory.
 */
async function startOfTheUnit(from: string): Promise<readonly [flags: string, environment: string]> {
  const unit = await readFile(join(from, 'systemd/dropcast.service'), 'utf8');
  const [, flags = ''] = /^ExecStart=\S+node (.*) \S+main\.js/m.exec(unit) ?? [];
  const [, environment = ''] = /^Environment=(MALLOC_\S+)$/m.exec(unit) ?? [];
  return [flags.replace('--jitless', '').trim(), environment];
}

/** Bundled by its own scripts, as for the Debian package. */
async function bundled(name: string, from: string): Promise<Build> {
  const plainNode = join(from, 'node_modules/.bin/node');
  const folder = await temporary('bundle');
  const script = `
    const { programFiles } = await import(${JSON.stringify(join(from, 'scripts/package/contents.ts'))});
    const { writeTree } = await import(${JSON.stringify(join(from, 'scripts/package/packaged-file.ts'))});
    await writeTree((await programFiles(${JSON.stringify(from)})).files, ${JSON.stringify(folder)}, 0);`;
  await output(plainNode, ['--input-type=module', '-e', script], { cwd: from });
  const node = await nodeWith(plainNode, ...(await startOfTheUnit(from)));
  return { name, root: from, node, plainNode, program: join(folder, 'usr/lib/dropcast/dist/main.js') };
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

function temporary(what: string): Promise<string> {
  return mkdtemp(join(tmpdir(), `dropcast-${what}-`));
}
