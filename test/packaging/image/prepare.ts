import { buildPackage } from '../../../scripts/package/build.ts';
import { execute } from '../../systemd/execute.ts';
import { rootfs, RootfsError } from '../../systemd/rootfs.ts';
import { buildImage } from './engine.ts';
import type { Image } from './engine.ts';
import { join } from 'node:path';

/**
 * The image, on the Debian that debootstrap makes, with the package of these sources. $DROPCAST_DEB takes a package that is there.
 *
 * @returns why it cannot be built on this machine, as one sentence, where that is no fault of the program
 * @throws {Error} when package or image cannot be built
 */
export async function prepareImage(): Promise<Image | string> {
  const obstacle = await imageObstacle();
  if (obstacle !== null) return obstacle;
  try {
    const base = await rootfs('bookworm');
    const root = join(import.meta.dirname, '../../..');
    const deb = process.env['DROPCAST_DEB'] ?? (await buildPackage({ root, isFast: true, tell: () => undefined })).file;
    return await buildImage(base, deb);
  } catch (error) {
    if (error instanceof RootfsError) return error.message;
    throw error;
  }
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
