import { copyFile, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startVideoHost } from '../../e2e/video-host.ts';
import type { VideoHost } from '../../e2e/video-host.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import { openImage } from './engine.ts';
import { volumesFor } from './volumes.ts';
import type { Image, Started } from './engine.ts';
import type { Storage } from './storage.ts';

const root = join(import.meta.dirname, '../../..');
const images = inject('images');
if (typeof images === 'string') process.stderr.write(`\n*** NOT CHECKED in a container: ${images}\n\n`);

describe.skipIf(typeof images === 'string')('the image', () => {
  let image: Image;
  const own = new AsyncDisposableStack();
  const upload = { arrived: Promise.withResolvers<void>(), mayEnd: Promise.withResolvers<void>() };
  let host: VideoHost;
  let scratch: ScratchDirectory;
  let daemon: Started;
  let link: string;

  beforeAll(async () => {
    image = own.use(await openImage(images as Storage));
    scratch = own.use(await scratchDirectory());
    host = own.use(await startVideoHost({ meddleUpload: () => heldBack(upload) }));
    const volumes = await volumesFor(image.config, scratch, host);
    expect(await isHealthy(image, 7878), 'before it runs').toBe(false);
    daemon = await image.start(volumes);
    link = await until('it prints a link to its page', linkOf, { seen: () => daemon.said() });
  });
  afterAll(() => own.disposeAsync());

  const linkOf = async (): Promise<string | null> =>
    /^http\S+/m.exec((await image.run('/usr/bin/dropcast', 'open')).stdout)?.[0] ?? null;

  test('runs as its user, with nothing of root', async () => {
    const status = (await image.run('/usr/bin/bash', '-c', 'echo "$(</proc/self/status)"')).stdout;
    const [uid] = image.config.User.split(':');
    for (const kind of ['Uid', 'Gid']) expect(status).toMatch(new RegExp(`^${kind}:(\\s${uid}){4}$`, 'm'));
    expect(status).toMatch(/^CapEff:\s0+$/m);
  });

  test('is healthy while it runs, asked without a Node.js', async () => {
    expect(await readFile(join(root, 'packaging/container/healthcheck'), 'utf8')).toMatch(/^#!\/bin\/bash$/m);
    expect(await isHealthy(image, Number(new URL(link).port))).toBe(true);
  });

  test('shows its page only to users who have the link', async () => {
    expect((await fetch(new URL('/', link))).status).toBe(401);
    const [cookie = ''] = ((await fetch(link)).headers.get('set-cookie') ?? '').split(';');
    expect(await (await fetch(new URL('/', link), { headers: { cookie } })).text()).toContain('/srv/media/inbox');
  });

  test('on the stop signal it lets a running upload finish, and ends cleanly', async () => {
    const beside = scratch.file('clip.mp4.part');
    await copyFile(join(import.meta.dirname, '../../media/clip.mp4'), beside);
    await rename(beside, scratch.file('inbox', 'clip.mp4'));
    await upload.arrived.promise;
    const ended = daemon.stop();
    await until('it was told', () => daemon.said().includes('Stopping'), { seen: () => daemon.said() });
    upload.mayEnd.resolve();
    expect(await ended).toBe(0);
    expect([...host.videos.values()].map(({ bodies }) => bodies.length)).toEqual([1]);
    expect(await isHealthy(image, Number(new URL(link).port)), 'after the stop').toBe(false);
  });
});

/** Takes no byte until the test says so, and then all of them. */
async function heldBack(upload: Record<'arrived' | 'mayEnd', PromiseWithResolvers<void>>): Promise<false> {
  upload.arrived.resolve();
  await upload.mayEnd.promise;
  return false;
}

/** Its own health check, for the port that it has here: the network is that of the host, where 7878 may be taken. */
async function isHealthy(image: Image, port: number): Promise<boolean> {
  const [, ...command] = image.config.Healthcheck.Test;
  return (await image.run(...command, String(port))).code === 0;
}
