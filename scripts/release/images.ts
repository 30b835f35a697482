import { mkdir, mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Deb } from '../package/deb.ts';
import { writeTree } from '../package/packaged-file.ts';
import { debianPackages, readLock } from './image/debian.ts';
import type { DebianLock } from './image/debian.ts';
import { controlOf, extract, makeDirectory } from './image/extract.ts';
import { writeLayer } from './image/layer.ts';
import type { Layer, TarTerms } from './image/layer.ts';
import { writeArchive } from './image/oci-archive.ts';
import type { Platform } from './image/oci-archive.ts';
import {
  debianFiles,
  dropcastRecipe,
  imageUser,
  libraries,
  nodeFiles,
  programFiles,
  sandboxRecipe,
} from './image/recipes.ts';
import type { Recipe } from './image/recipes.ts';

export interface ImagesOptions {
  /** Of the repository. */
  readonly root: string;
  /** The images go to its folder `images`. */
  readonly out: string;
  /** Our package, once for each processor that the images get. */
  readonly packages: readonly Deb[];
  /** Little compression, for tests. */
  readonly isFast: boolean;
  /** Receives what was done. */
  readonly tell: (text: string) => void;
}

/** Programs that writeImages needs, and their Debian packages. */
export const imageTools = { 'dpkg-deb': 'dpkg', tar: 'tar', gzip: 'gzip' };

/**
 * Writes both images as OCI archives. No step runs in them, so one machine makes those of every processor, without a
 * registry and without root.
 *
 * @returns the archives
 * @throws {DebianError} if a package of Debian cannot be fetched
 */
export async function writeImages(options: ImagesOptions): Promise<readonly string[]> {
  const { root, out, packages, tell } = options;
  const [first] = packages;
  if (first === undefined) throw new Error('images need a package for at least one processor');
  const { version, epochSeconds } = first;
  const directory = join(out, 'images');
  await mkdir(directory, { recursive: true });
  // Beside the archives: the layers are linked into them.
  const scratch = await mkdtemp(join(directory, '.layers-'));
  try {
    const lock = await readLock();
    const recipes = [
      dropcastRecipe(await readFile(join(root, 'packaging/container/healthcheck'), 'utf8')),
      sandboxRecipe,
    ];
    const platforms: Record<string, Platform[]> = {};
    for (const deb of packages) {
      const architecture = deb.architecture.deb;
      const build = new PlatformBuild(options, lock, { deb, scratch: join(scratch, architecture) });
      const shared = await build.sharedLayers();
      for (const recipe of recipes) {
        const layers = [...shared, await build.ownLayer(recipe)];
        (platforms[recipe.name] ??= []).push({ architecture, config: withVersion(recipe, version), layers });
        tell(`${recipe.name} for ${architecture}: ${megabytes(layers)} compressed`);
      }
    }
    const files: string[] = [];
    for (const { name } of recipes) {
      const file = join(directory, `${name}-${version}.oci.tar`);
      const terms = { reference: `localhost/${name}:${version}`, epochSeconds, scratch: join(scratch, name) };
      await writeArchive(platforms[name] ?? [], file, terms);
      tell(`${file}: ${((await stat(file)).size / 1e6).toFixed(1)} MB`);
      files.push(file);
    }
    return files;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

interface PlatformTerms {
  readonly deb: Deb;
  readonly scratch: string;
}

/** The layers for one processor. */
class PlatformBuild {
  readonly #options: ImagesOptions;
  readonly #lock: DebianLock;
  readonly #platform: PlatformTerms;

  constructor(options: ImagesOptions, lock: DebianLock, platform: PlatformTerms) {
    this.#options = options;
    this.#lock = lock;
    this.#platform = platform;
  }

  /** Libraries and Node have the time of the lock, so a release leaves their layers as they are, and engines keep them. */
  async sharedLayers(): Promise<readonly Layer[]> {
    const { deb } = this.#platform;
    const lasting = this.#lock.epochSeconds;
    return [
      await this.#layer('libraries', { epochSeconds: lasting }, (tree) => this.#fromDebian(libraries, tree)),
      await this.#layer('node', { epochSeconds: lasting }, (tree) => this.#ofPackage(nodeFiles, tree)),
      await this.#layer('program', deb, (tree) => this.#ofPackage(programFiles, tree)),
    ];
  }

  ownLayer(recipe: Recipe): Promise<Layer> {
    const ownDirectories = Object.keys(recipe.ownDirectories);
    const terms = { epochSeconds: this.#lock.epochSeconds, ownDirectories, user: imageUser };
    return this.#layer(recipe.name, terms, async (tree) => {
      await this.#fromDebian(recipe.packages, tree);
      if (recipe.ofPackage !== undefined) await this.#ofPackage(recipe.ofPackage, tree);
      await writeTree(recipe.files, tree, this.#lock.epochSeconds);
      for (const [path, target] of Object.entries(recipe.links)) await symlink(target, join(tree, path));
      for (const [path, mode] of Object.entries(recipe.ownDirectories)) {
        await makeDirectory(tree, dirname(path), 0o755);
        await makeDirectory(tree, path, mode);
      }
    });
  }

  async #layer(
    name: string,
    { epochSeconds, ownDirectories, user }: TarTerms,
    fill: (tree: string) => Promise<void>,
  ): Promise<Layer> {
    const tree = join(this.#platform.scratch, name);
    await makeDirectory(tree, '.', 0o755);
    await fill(tree);
    const owner = ownDirectories !== undefined && user !== undefined ? { ownDirectories, user } : {};
    const layer = await writeLayer(tree, { epochSeconds, ...owner }, this.#options.isFast);
    await rm(tree, { recursive: true });
    return layer;
  }

  async #ofPackage(wanted: RegExp, tree: string): Promise<void> {
    const { files, epochSeconds } = this.#platform.deb;
    await writeTree(
      files.filter(({ path }) => wanted.test(path)),
      tree,
      epochSeconds,
    );
  }

  async #fromDebian(names: readonly string[], tree: string): Promise<void> {
    const packages = await debianPackages(this.#options.root, this.#lock, this.#platform.deb.architecture.deb);
    for (const name of names) {
      const deb = packages[name];
      if (deb === undefined) throw new Error(`debian.lock.json has no ${name}: run npm run lock:images`);
      await extract(deb, debianFiles, tree);
      const control = { path: `var/lib/dpkg/status.d/${name}`, content: await controlOf(deb) };
      await writeTree([control], tree, this.#lock.epochSeconds);
    }
  }
}

function withVersion({ config }: Recipe, version: string): Recipe['config'] {
  return { ...config, Labels: { ...config.Labels, 'org.opencontainers.image.version': version } };
}

function megabytes(layers: readonly Layer[]): string {
  return `${(layers.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) / 1e6).toFixed(1)} MB`;
}
