import { spawnSync } from 'node:child_process';
import { scratchDirectory } from '../support/scratch-directory.ts';

/** A file system of its own, that a test can fill and make read-only. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  /** With the options of mount(8), as `ro` or `size=2m`. */
  remount(options: string): void;
}

export async function smallDisk(size: string): Promise<SmallDisk> {
  const scratch = await scratchDirectory();
  const { path } = scratch;
  mount('-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path);
  return {
    path,
    remount: (options) => mount('-o', `remount,${options}`, path),
    [Symbol.asyncDispose]: async () => {
      spawnSync('umount', [path]);
      await scratch[Symbol.asyncDispose]();
    },
  };
}

function mount(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('mount', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`mount ${args.join(' ')}: ${stderr}`);
}
