import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { describePackage } from '../../../scripts/package/build.ts';
import { DebianError } from '../../../scripts/release/image/debian.ts';
import { writeImages } from '../../../scripts/release/images.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { execute } from '../../systemd/execute.ts';
import { buildah, loadImage } from './storage.ts';
import type { Storage } from './storage.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the images `localhost/dropcast` and `localhost/dropcast-sandbox` are, or why they cannot be built on this machine, as one sentence. */
    images: Storage | string;
  }
}

const root = join(import.meta.dirname, '../../..');

/**
 * Makes the archives of both images once for all tests of containers, of these sources, and loads them as docs/container.md
 * does.
 *
 * @throws {Error} when package or image cannot be built and this machine is not the reason
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await using making = new AsyncDisposableStack();
  const scratch = making.use(await scratchDirectory());
  const storage = { root: scratch.file('root'), run: scratch.file('run') };
  const obstacle = await imageObstacle();
  if (obstacle === null) making.defer(() => buildah(storage, 'rm', '--all').then(() => undefined));
  project.provide('images', obstacle ?? (await build(storage, scratch.path)));
  const made = making.move();
  return () => made.disposeAsync();
}

async function imageObstacle(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'only root may run a container here: run it with sudo';
  for (const program of ['buildah', 'podman', 'strip']) {
    const { code } = await execute(['sh', '-c', `command -v ${program}`]);
    if (code !== 0) return `${program} is not installed: apt-get install buildah podman binutils`;
  }
  const { code, stderr } = await execute(['unshare', '--mount', '--pid', '--fork', 'true']);
  return code === 0 ? null : `this machine does not allow new namespaces: ${stderr.trim()}`;
}

async function build(storage: Storage, out: string): Promise<Storage | string> {
  try {
    const packages = [await describePackage({ root, tell: () => undefined })];
    const archives = await writeImages({ root, out, packages, isFast: true, tell: () => undefined });
    for (const archive of archives) await loadImage(storage, archive);
    return storage;
  } catch (error) {
    if (error instanceof DebianError) return error.message;
    throw error;
  }
}
