import { execute } from '../../systemd/execute.ts';
import type { Ended } from '../../systemd/execute.ts';
import { buildah, inStorage } from './storage.ts';
import type { Storage } from './storage.ts';

/** Runs a program of arm64. The host calls it by name, because not every host lets the kernel do that (binfmt_misc). */
export const emulator = 'qemu-aarch64-static';

/** A container of the arm64 image. Leaving its block removes it. */
export interface EmulatedImage extends AsyncDisposable {
  /** Runs dropcast as the user of the image, to its end. */
  dropcast(volumes: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Ended>;
}

/** @param entrypoint what the image starts */
export async function openEmulated(
  storage: Storage,
  archive: string,
  entrypoint: readonly string[],
): Promise<EmulatedImage> {
  const container = await buildah(storage, 'from', '--arch', 'arm64', `oci-archive:${archive}`);
  return {
    dropcast: (volumes, ...args) => {
      const all = { [`/usr/bin/${emulator}`]: `/${emulator}:ro`, ...volumes };
      const mounts = Object.entries(all).flatMap(([from, to]) => ['--volume', `${from}:${to}`]);
      const run = ['run', '--isolation', 'chroot', ...mounts, container, '--', `/${emulator}`, ...entrypoint, ...args];
      return execute(['buildah', ...inStorage(storage), ...run], { timeoutMs: 300_000 });
    },
    [Symbol.asyncDispose]: () => buildah(storage, 'rm', container).then(() => undefined),
  };
}
