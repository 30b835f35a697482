import { glob, mkdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { execute } from './execute.ts';
import { hostObstacle } from './host.ts';
import { rootfs, RootfsError } from './rootfs.ts';
import type { Suite } from './rootfs.ts';

/** What a machine is booted from. */
export interface Ground {
  readonly root: string;
  /** The package to be installed in it. */
  readonly package: string;
}

/**
 * Makes what is missing: the tools of the host, the Debian, the package. $DROPCAST_DEB takes a package that is there.
 *
 * @returns why it cannot be done on this machine, as one sentence, where that is no fault of the program
 * @throws {Error} when the package cannot be built
 */
export async function prepare(suite: Suite): Promise<Ground | string> {
  const obstacle = await hostObstacle();
  if (obstacle !== null) return obstacle;
  try {
    const root = await rootfs(suite);
    return { root, package: process.env['DROPCAST_DEB'] ?? (await buildPackage()) };
  } catch (error) {
    if (error instanceof RootfsError) return error.message;
    throw error;
  }
}

const repository = fileURLToPath(new URL('../..', import.meta.url));

async function buildPackage(): Promise<string> {
  await mkdir(`${repository}/build`, { recursive: true });
  const { code, stdout, stderr } = await execute(['npm', 'run', '-s', 'package', '--', '--fast'], {
    cwd: repository,
    timeoutMs: 300_000,
  });
  if (code !== 0) throw new Error(`npm run package -- --fast ended with ${code}\n${stdout}${stderr}`);
  const newest = { path: '', at: 0 };
  for await (const name of glob('dropcast_*.deb', { cwd: `${repository}/build` })) {
    const path = `${repository}/build/${name}`;
    const { mtimeMs } = await stat(path);
    if (mtimeMs > newest.at) Object.assign(newest, { path, at: mtimeMs });
  }
  return newest.path;
}
