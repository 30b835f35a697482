import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { packPackages } from '../pack/pack-packages.ts';
import { architectures } from '../package/architecture.ts';
import { describePackage, ownVersion } from '../package/build.ts';
import { writeDeb } from '../package/deb.ts';
import type { Deb } from '../package/deb.ts';
import { writeRpm } from '../package/rpm.ts';
import { sourceDate } from '../package/source-date.ts';
import { missingTools } from '../package/tools.ts';
import { writeAptRepository } from './apt.ts';
import { writeDnfRepository } from './dnf.ts';
import { imageTools, writeImages } from './images.ts';
import { keyTools, openKeys } from './keys.ts';
import { writeMacTarball } from './macos.ts';
import { sourceOf, writeProvenance } from './provenance.ts';
import { writeSboms } from './sbom.ts';
import { isOf, sumsOf, writeSums } from './sums.ts';
import { writeTarball } from './tarball.ts';

const run = promisify(execFile);

/** What a release consists of. */
export const releaseParts = ['apt', 'rpm', 'images', 'npm', 'man', 'macos', 'sbom'] as const;

export type ReleasePart = (typeof releaseParts)[number];

export interface ReleaseOptions {
  /** Of the repository. */
  readonly root: string;
  /** Where the tree goes. Packages of older versions that are there stay. */
  readonly out: string;
  /** Directory with the keys of the release; null: throw-away keys. */
  readonly keys: string | null;
  /** Address that the tree will have. */
  readonly url: string;
  readonly parts: readonly ReleasePart[];
  /** Little compression, for tests. */
  readonly isFast: boolean;
  /** Another version than package.json has, to try an upgrade. */
  readonly version?: string;
  /** Receives progress. */
  readonly tell: (text: string) => void;
}

/** Programs that the parts need, and the Debian packages that have them. */
const tools: Readonly<Partial<Record<ReleasePart, Readonly<Record<string, string>>>>> = {
  apt: { 'apt-ftparchive': 'apt-utils', 'dpkg-deb': 'dpkg' },
  images: imageTools,
  rpm: { rpmbuild: 'rpm', createrepo_c: 'createrepo-c' },
};

/** Writes a release tree. @returns the commit it is of @throws with a sentence that says what is missing */
export async function writeRelease(options: ReleaseOptions): Promise<string> {
  const { root, out, url, tell, isFast } = options;
  const wanted = new Set(options.parts);
  const strips = architectures.map(({ strip, stripPackage }) => [strip, stripPackage]);
  const missing = await missingTools({
    ...Object.assign({}, ...[...wanted].map((part) => tools[part])),
    ...Object.fromEntries(strips),
    ...keyTools,
  });
  if (missing !== null) throw new Error(missing);
  const version = options.version ?? (await ownVersion(root));
  const epochSeconds = await sourceDate(root, await readFile(join(root, 'CHANGELOG.md'), 'utf8'), process.env);
  // Before the first file: the tree may be in the checkout.
  const source = await sourceOf(root);
  await mkdir(out, { recursive: true });
  await using keys = await openKeys(options.keys, epochSeconds);
  await keys.publish(join(out, 'keys'));
  // A tree without them is not complete.
  for (const name of ['SHA256SUMS', 'SHA256SUMS.minisig']) await rm(join(out, name), { force: true });
  const scratch = await mkdtemp(join(tmpdir(), 'dropcast-release-'));
  try {
    const described: Deb[] = [];
    for (const architecture of architectures)
      described.push(await describePackage({ root, tell, architecture, version }));
    const packaged = described[0]?.files ?? [];
    const built = async (name: string, write: (file: string) => Promise<void>): Promise<string> => {
      const file = join(scratch, name);
      await write(file);
      tell(`${name}: ${megabytes((await stat(file)).size)}`);
      return file;
    };
    if (wanted.has('apt')) {
      // Compression takes most of the time of a release, on one core each.
      const debs = await Promise.all(
        described.map((deb) =>
          built(`dropcast_${version}_${deb.architecture.deb}.deb`, (file) => writeDeb(deb, file, isFast)),
        ),
      );
      await writeAptRepository({ out, debs, url, epochSeconds, keys });
    }
    if (wanted.has('rpm')) {
      const rpms = await Promise.all(
        described.map(async (deb) => {
          const name = `dropcast-${version}-1.${deb.architecture.rpm}.rpm`;
          return { file: await built(name, (file) => writeRpm(deb, file, isFast)), architecture: deb.architecture };
        }),
      );
      await writeDnfRepository({ out, rpms, url, epochSeconds, keys });
    }
    if (wanted.has('images')) await writeImages({ root, out, packages: described, isFast, tell });
    const npm = wanted.has('npm') ? await writeNpm(root, out, tell) : [];
    if (wanted.has('man')) {
      const pages = packaged.filter(({ path }) => path.startsWith('usr/share/man/'));
      const output = join(out, 'man', `dropcast-${version}-man.tar.gz`);
      const moved = pages.map((page) => ({ ...page, path: page.path.replace('usr/share/', '') }));
      await writeTarball(moved, output, epochSeconds);
    }
    if (wanted.has('macos'))
      for (const arch of ['arm64', 'x64'] as const) {
        const file = await writeMacTarball(root, out, { version, arch, epochSeconds, packaged });
        tell(`${basename(file)}: ${megabytes((await stat(file)).size)}`);
      }
    const node = /Node\.js (\S+)/.exec(String(packaged.find(({ path }) => path.endsWith('/copyright'))?.content))?.[1];
    if (wanted.has('sbom')) await writeSboms(root, out, { version, node: node ?? '', epochSeconds });
    const sumsOfThis = (await sumsOf(out)).filter(({ path }) => npm.includes(path) || isOf(version, path));
    await writeProvenance(root, out, { version, sums: sumsOfThis, source });
    const sums = await writeSums(out, await sumsOf(out));
    await keys.minisign(sums);
    tell(`${sums} is signed`);
    return source.commit;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** @returns paths in the tree */
async function writeNpm(root: string, out: string, tell: ReleaseOptions['tell']): Promise<readonly string[]> {
  await mkdir(join(out, 'npm'), { recursive: true });
  const written: string[] = [];
  for (const { file, sizeBytes } of await packPackages(root)) {
    const path = `npm/${basename(file)}`;
    await copyFile(file, join(out, path));
    tell(`${basename(file)}: ${megabytes(sizeBytes)}`);
    written.push(path);
  }
  return written;
}

/** Folders that are copied whole into packages. */
const packagedFolders = ['bin', 'docs', 'packages/*/bin', 'packages/*/src', 'packaging', 'systemd', 'test/media'];

/**
 * @throws if the checkout has changes, or files that git ignores where they would enter a package: a release is built
 *   from a commit
 */
export async function requireClean(root: string): Promise<void> {
  const { stdout } = await run('git', ['status', '--porcelain'], { cwd: root });
  if (stdout !== '')
    throw new Error(`the checkout has changes: commit them, or use --dirty to try a release\n${stdout.trimEnd()}`);
  const ignored = ['ls-files', '--others', '--ignored', '--exclude-standard', '--', ...packagedFolders];
  const { stdout: files } = await run('git', ignored, { cwd: root });
  if (files !== '') throw new Error(`git ignores files that would enter the packages: remove them\n${files.trimEnd()}`);
}

/** @throws if node_modules has other packages than package-lock.json names, as after a `git pull` without `npm ci` */
export async function requireInstalled(root: string): Promise<void> {
  const read = async (file: string): Promise<Lock> => JSON.parse(await readFile(join(root, file), 'utf8')) as Lock;
  const { packages: locked } = await read('package-lock.json');
  const { packages: installed } = await read('node_modules/.package-lock.json');
  const differs = ([path, { version, optional }]: [string, Lock['packages'][string]]): boolean =>
    path in installed ? installed[path]?.version !== version : path.startsWith('node_modules/') && optional !== true;
  const [different] = Object.entries(locked).find(differs) ?? [];
  if (different !== undefined) throw new Error(`${different} is not as package-lock.json has it: run npm ci`);
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly optional?: boolean }>>;
}

/** @throws if the version was released, from any commit: the same version is never two builds */
export async function requireUntagged(root: string, version: string): Promise<void> {
  const { stdout } = await run('git', ['tag', '--list', `v${version}`], { cwd: root });
  if (stdout === '') return;
  throw new Error(`the tag v${version} exists: set the next version in package.json and CHANGELOG.md`);
}

/** Notes the released commit. @throws if the tag exists */
export async function tagRelease(root: string, version: string, commit: string): Promise<void> {
  await run('git', ['tag', '--annotate', `v${version}`, '--message', `dropcast ${version}`, commit], { cwd: root });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
