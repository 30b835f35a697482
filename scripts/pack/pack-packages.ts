import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, glob, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { publishedManifest } from './published-manifest.ts';
import type { Manifest } from './published-manifest.ts';
import { layouts, withoutLinks } from './layouts.ts';
import type { Layout } from './layouts.ts';

const run = promisify(execFile);

export interface Packed {
  /** Absolute path of the tarball. */
  readonly file: string;
  readonly sizeBytes: number;
  /** Paths inside the package, sorted. */
  readonly entries: readonly string[];
}

/**
 * Builds the packages from their sources, puts what is published of each into build/pack/NAME, and packs it into
 * build/.
 *
 * @param root of the repository, with its node_modules
 * @throws with the output of tsc or npm when one of them fails, and for a sibling that is not wanted in exactly its
 *   version
 */
export async function packPackages(root: string): Promise<readonly Packed[]> {
  await rm(join(root, 'build/pack'), { recursive: true, force: true });
  const parts = await Promise.all(
    layouts.map(async (layout) => ({ layout, manifest: await readManifest(join(root, layout.home)) })),
  );
  const { repository: address } = (await readManifest(root)) as Manifest & { readonly repository: string };
  const manifests = parts.map(({ manifest }) => manifest);
  const unpublished = parts.filter(({ layout }) => layout.readme === null);
  // In this order: each is type-checked against the declarations of those before it.
  const packed: Packed[] = [];
  for (const { layout, manifest } of parts) {
    const dependencies = layout.readme === null ? {} : (manifest.dependencies ?? {});
    const bundled = unpublished.filter(({ manifest: { name } }) => name in dependencies);
    const bundledNames = bundled.map(({ manifest: { name } }) => name);
    const repository = { address, directory: layout.home };
    await stage(root, layout, publishedManifest(manifest, manifests, { bundled: bundledNames, repository }));
    if (layout.readme === null) continue;
    const to = join(root, 'build/pack', layout.name);
    for (const { layout: from, manifest: found } of bundled)
      await cp(join(root, 'build/pack', from.name), join(to, 'node_modules', found.name), { recursive: true });
    packed.push(await pack(root, to));
  }
  return packed;
}

async function stage(
  root: string,
  { name, home, files, moved, pages, readme }: Layout,
  manifest: Manifest,
): Promise<void> {
  const to = join(root, 'build/pack', name);
  await output(root, join(root, 'node_modules/.bin/tsc'), ['-p', join(home, 'tsconfig.build.json')]);
  for await (const path of glob('dist/**/*.d.ts', { cwd: to })) await rewriteImports(join(to, path));
  const from = join(root, home);
  for await (const path of glob('dist/**/*.map', { cwd: to })) await rewriteSources(join(to, path), from, to);
  for (const pattern of files)
    for (const path of await matching(pattern, from)) await copy(join(from, path), join(to, path));
  if (moved !== undefined)
    for (const path of await matching(moved.pattern, from))
      await copy(join(from, path), join(to, moved.to, basename(path)));
  await writeFile(join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  if (readme === null) return;
  for (const page of pages ?? []) {
    await mkdir(join(to, 'docs'), { recursive: true });
    await writeFile(join(to, 'docs', page), withoutLinks(await readFile(join(root, 'docs', page), 'utf8'), pages));
  }
  for (const file of ['LICENSE', 'CHANGELOG.md'])
    await copy(join(existsSync(join(from, file)) ? from : root, file), join(to, file));
  await writeFile(join(to, 'README.md'), readme.edit(await readFile(join(root, readme.from), 'utf8')));
}

/** tsc rewrites `./file.ts` to `./file.js` in JavaScript only; in declarations some tools would not find it. */
async function rewriteImports(file: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replaceAll(/(\bfrom |\bimport\()(['"])(\.{1,2}\/[^'"]+)\.ts\2/g, '$1$2$3.js$2'));
}

/** Lets a map name the source in the package instead of the one in the checkout. */
async function rewriteSources(file: string, from: string, to: string): Promise<void> {
  const map = JSON.parse(await readFile(file, 'utf8')) as { readonly sources: readonly string[] };
  const sources = map.sources.map((source) => {
    const inPackage = join(to, relative(from, join(dirname(file), source)));
    return relative(dirname(file), inPackage);
  });
  await writeFile(file, JSON.stringify({ ...map, sources }));
}

/** @throws when nothing matches */
async function matching(pattern: string, from: string): Promise<readonly string[]> {
  const paths = await Array.fromAsync(glob(pattern, { cwd: from }));
  if (paths.length === 0) throw new Error(`there is no ${pattern} in ${from}`);
  return paths;
}

async function copy(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await cp(from, to, { recursive: true });
}

async function pack(root: string, directory: string): Promise<Packed> {
  await setModes(directory);
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', join(root, 'build')];
  const [result] = JSON.parse(await output(directory, 'npm', args)) as {
    filename: string;
    size: number;
    files: { path: string }[];
  }[];
  if (result === undefined) throw new Error(`npm packed nothing in ${directory}`);
  const { filename, size, files } = result;
  return { file: join(root, 'build', filename), sizeBytes: size, entries: files.map(({ path }) => path).toSorted() };
}

/**
 * npm packs the modes of the files, which come from the umask of whoever checked out and built: the same sources give
 * the same bytes.
 */
async function setModes(directory: string): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  for (const file of entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name)))
    await chmod(file, ((await stat(file)).mode & 0o100) === 0 ? 0o644 : 0o755);
}

async function output(cwd: string, command: string, args: readonly string[]): Promise<string> {
  try {
    return (await run(command, args, { cwd, maxBuffer: 2 ** 24 })).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

async function readManifest(directory: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')) as Manifest;
}
