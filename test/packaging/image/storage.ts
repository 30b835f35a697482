import { execute } from '../../systemd/execute.ts';

/** Where buildah and podman of one run keep their images and containers: directories of its own, not those of the host. */
export interface Storage {
  readonly root: string;
  readonly run: string;
}

/** What both programs are told first. */
export function inStorage({ root, run }: Storage): readonly string[] {
  return ['--root', root, '--runroot', run];
}

/** @returns what it printed @throws {Error} with what it said, when it fails */
export async function buildah(storage: Storage, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await execute(['buildah', ...inStorage(storage), ...args], { timeoutMs: 600_000 });
  if (code !== 0) throw new Error(`buildah ${args.join(' ')} ended with ${code}: ${stderr}`);
  return stdout.trim();
}

/** Loads an archive as docs/container.md does, and gives its image the tag `latest`. */
export async function loadImage(storage: Storage, archive: string): Promise<void> {
  const command = ['podman', ...inStorage(storage), 'load', '--quiet', '--input', archive] as const;
  const { code, stdout, stderr } = await execute(command, { timeoutMs: 600_000 });
  const loaded = /^Loaded image: ((\S+):\S+)$/m.exec(stdout);
  if (loaded === null) throw new Error(`${command.join(' ')} ended with ${code}: ${stdout}${stderr}`);
  const [, reference = '', repository = ''] = loaded;
  await buildah(storage, 'tag', reference, repository);
}

/** Builds what a recipe says, on our Debian. @param name of the image @param context directory that the recipe copies from */
export async function buildRecipe(storage: Storage, recipe: string, name: string, context: string): Promise<void> {
  const how = ['--quiet', '--isolation', 'chroot', '--format', 'docker', '--from', debian];
  await buildah(storage, 'bud', ...how, '-f', recipe, '-t', name, context);
}

/** A directory takes the place of the base image, so that no registry is asked. */
export async function importDebian(storage: Storage, directory: string): Promise<void> {
  const empty = await buildah(storage, 'from', 'scratch');
  await buildah(storage, 'add', '--quiet', empty, directory, '/');
  await buildah(storage, 'commit', '--quiet', empty, debian);
  await buildah(storage, 'rm', empty);
}

const debian = 'localhost/base';
