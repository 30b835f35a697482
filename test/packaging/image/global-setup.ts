import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildPackage } from '../../../scripts/package/build.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { execute } from '../../systemd/execute.ts';
import { rootfs, RootfsError } from '../../systemd/rootfs.ts';
import { buildah, buildRecipe, importDebian } from './storage.ts';
import type { Storage } from './storage.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the images `localhost/dropcast` and `localhost/dropcast-sandbox` are, or why they cannot be built on this machine, as one sentence. */
    images: Storage | string;
  }
}

const root = join(import.meta.dirname, '../../..');

/**
 * Builds both images once for all tests of containers, on the Debian that debootstrap makes, with the package of these sources.
 * $DROPCAST_DEB takes a package that is there.
 *
 * @throws {Error} when package or image cannot be built and this machine is not the reason
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await using making = new AsyncDisposableStack();
  const scratch = making.use(await scratchDirectory());
  const storage = { root: scratch.file('root'), run: scratch.file('run') };
  const obstacle = await imageObstacle();
  if (obstacle === null) making.defer(() => buildah(storage, 'rm', '--all').then(() => undefined));
  project.provide('images', obstacle ?? (await build(storage, scratch.file('context'))));
  const made = making.move();
  return () => made.disposeAsync();
}

async function imageObstacle(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'only root may run a container here: run it with sudo';
  for (const program of ['buildah', 'debootstrap', 'strip']) {
    const { code } = await execute(['sh', '-c', `command -v ${program}`]);
    if (code !== 0) return `${program} is not installed: apt-get install buildah debootstrap binutils`;
  }
  const { code, stderr } = await execute(['unshare', '--mount', '--pid', '--fork', 'true']);
  return code === 0 ? null : `this machine does not allow new namespaces: ${stderr.trim()}`;
}

async function build(storage: Storage, context: string): Promise<Storage | string> {
  try {
    const base = await rootfs('bookworm');
    const deb = process.env['DROPCAST_DEB'] ?? (await buildPackage({ root, isFast: true, tell: () => undefined })).file;
    await mkdir(join(context, 'build'), { recursive: true });
    await cp(deb, join(context, 'build', 'dropcast_0_test.deb'));
    await importDebian(storage, base);
    for (const [recipe, name] of Object.entries({
      Containerfile: 'dropcast',
      'Containerfile.sandbox': 'dropcast-sandbox',
    }))
      await buildRecipe(storage, join(root, 'packaging', recipe), `localhost/${name}`, context);
    return storage;
  } catch (error) {
    if (error instanceof RootfsError) return error.message;
    throw error;
  }
}
