import { fileURLToPath } from 'node:url';
import { buildPackage } from '../../scripts/package/build.ts';
import { startBox } from './box.ts';
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
  const found = await prepareRoot(suite);
  return typeof found === 'string' ? found : { ...found, package: process.env['DROPCAST_DEB'] ?? (await newPackage()) };
}

/** The same without a package. */
export async function prepareRoot(suite: Suite): Promise<Pick<Ground, 'root'> | string> {
  const obstacle = await hostObstacle();
  if (obstacle !== null) return obstacle;
  try {
    const root = await rootfs(suite);
    return (await bootRefusal(root)) ?? { root };
  } catch (error) {
    if (error instanceof RootfsError) return error.message;
    throw error;
  }
}

/** Why a machine with nothing of ours in it does not boot here: containers in containers have many limits. */
async function bootRefusal(root: string): Promise<string | null> {
  try {
    const box = await startBox(root, {});
    await box[Symbol.asyncDispose]();
    return null;
  } catch (error) {
    return `a machine does not boot in a container here: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function newPackage(): Promise<string> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  return (await buildPackage({ root, isFast: true, tell: () => undefined })).file;
}

// `node test/systemd/prepare.ts bookworm` makes what takes long beforehand. Whether it can be made the tests say.
if (import.meta.main) {
  const suites = process.argv.slice(2) as Suite[];
  if ((await hostObstacle()) === null)
    for (const suite of suites)
      await rootfs(suite).catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
}
