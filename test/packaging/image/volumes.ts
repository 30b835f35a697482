import { chmod, chown, mkdir } from 'node:fs/promises';
import type { ImageConfig } from '../../../scripts/release/image/recipes.ts';
import type { VideoHost } from '../../e2e/video-host.ts';
import { configText, tagged } from '../../support/configuration.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';

/** Everything that a person mounts (docs/container.md), for the user of the image. */
export async function volumesFor(
  { User: user }: Pick<ImageConfig, 'User'>,
  scratch: ScratchDirectory,
  host: Pick<VideoHost, 'baseUrl' | 'key'>,
): Promise<Record<string, string>> {
  const [uid = 0, gid = 0] = user.split(':').map(Number);
  const config = configText({
    service: { base_url: host.baseUrl, api_key: tagged('!credential', 'api_key') },
    state_dir: undefined,
    folders: [{ path: '/srv/media/inbox' }],
    status: { listen: '0.0.0.0:0' },
  });
  await chmod(scratch.path, 0o755);
  const places: readonly (readonly [from: string, to: string])[] = [
    [await scratch.write('dropcast.yaml', config), '/etc/dropcast/dropcast.yaml'],
    [await scratch.write('api_key', host.key), '/run/secrets/api_key'],
    [scratch.file('state'), '/var/lib/dropcast'],
    [scratch.file('run'), '/run/dropcast'],
    [scratch.file('inbox'), '/srv/media/inbox'],
  ];
  for (const name of ['state', 'run', 'inbox']) await mkdir(scratch.file(name), { mode: 0o750 });
  for (const [from] of places) await chown(from, uid, gid);
  await chmod(scratch.file('api_key'), 0o400);
  return Object.fromEntries(places);
}
