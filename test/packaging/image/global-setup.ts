import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { architectureOf } from '../../../scripts/package/architecture.ts';
import { describePackage } from '../../../scripts/package/build.ts';
import { missingTools } from '../../../scripts/package/tools.ts';
import { DebianError } from '../../../scripts/release/image/debian.ts';
import { writeImages } from '../../../scripts/release/images.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { execute } from '../../systemd/execute.ts';
import { emulator } from './emulated.ts';
import { buildah, loadImage } from './storage.ts';
import type { Storage } from './storage.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the images `localhost/dropcast` and `localhost/dropcast-sandbox` are, or why they cannot be built on this machine, as one sentence. */
    images: Storage | string;
    /** The archive of `dropcast`, if it has arm64 and this machine can run that; else why not, as one sentence. */
    arm64: { readonly archive: string } | string;
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
  const withoutArm64 = await arm64Obstacle();
  const built = obstacle ?? (await build(storage, scratch.path, withoutArm64 === null));
  project.provide('images', typeof built === 'string' ? built : storage);
  project.provide('arm64', withoutArm64 ?? built);
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

async function arm64Obstacle(): Promise<string | null> {
  const programs = { [emulator]: 'qemu-user-static', 'aarch64-linux-gnu-strip': 'binutils-aarch64-linux-gnu' };
  if (process.arch !== 'x64') return 'this machine needs no emulator';
  return missingTools(programs);
}

/** @returns the archive of dropcast, or why there is none */
async function build(storage: Storage, out: string, hasArm64: boolean): Promise<{ readonly archive: string } | string> {
  const tell = (): void => undefined;
  try {
    const packages = [await describePackage({ root, tell })];
    if (hasArm64) packages.push(await describePackage({ root, tell, architecture: architectureOf('arm64') }));
    const archives = await writeImages({ root, out, packages, isFast: true, tell });
    for (const archive of archives) await loadImage(storage, archive);
    return { archive: archives[0] ?? '' };
  } catch (error) {
    if (error instanceof DebianError) return error.message;
    throw error;
  }
}
