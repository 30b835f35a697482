import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own, that a test can fill and make read-only. */
export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  /** With the options of mount(8), as `ro` or `size=2m`. */
  remount(options: string): void;
}

/** Only root may mount, and not in every container: so it is tried. */
export function canMount(): boolean {
  const path = mkdtempSync(join(tmpdir(), 'dropcast-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', path]);
  if (status === 0) spawnSync('umount', [path]);
  rmdirSync(path);
  return status === 0;
}

export async function smallDisk(size: string): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), 'dropcast-disk-'));
  mount('-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path);
  return {
    path,
    remount: (options) => mount('-o', `remount,${options}`, path),
    [Symbol.asyncDispose]: async () => {
      spawnSync('umount', [path]);
      await rm(path, { recursive: true, force: true });
    },
  };
}

function mount(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('mount', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`mount ${args.join(' ')}: ${stderr}`);
}
