import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { dropcastRecipe } from '../../../scripts/release/image/recipes.ts';
import { startVideoHost } from '../../e2e/video-host.ts';
import type { VideoHost } from '../../e2e/video-host.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { openEmulated } from './emulated.ts';
import type { EmulatedImage } from './emulated.ts';
import type { Storage } from './storage.ts';
import { volumesFor } from './volumes.ts';

const arm64 = inject('arm64');
if (typeof arm64 === 'string') process.stderr.write(`\n*** NOT CHECKED: the image for arm64: ${arm64}\n\n`);

const { config } = dropcastRecipe('');

describe.skipIf(typeof arm64 === 'string')('the image for arm64, emulated', () => {
  const own = new AsyncDisposableStack();
  let image: EmulatedImage;
  let host: VideoHost;
  let scratch: ScratchDirectory;
  let volumes: Record<string, string>;

  beforeAll(async () => {
    const { archive } = arm64 as Exclude<typeof arm64, string>;
    image = own.use(await openEmulated(inject('images') as Storage, archive, config.Entrypoint));
    scratch = own.use(await scratchDirectory());
    host = own.use(await startVideoHost());
    volumes = await volumesFor(config, scratch, host);
  });
  afterAll(() => own.disposeAsync());

  test('says its version', async () => {
    expect(await image.dropcast({}, '--version')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+/),
    });
  });

  test('checks the configuration', async () => {
    const checked = await image.dropcast(volumes, 'check');
    expect(checked, checked.stdout + checked.stderr).toMatchObject({ code: 0 });
  });

  test('uploads with `once`', async () => {
    await copyFile(join(import.meta.dirname, '../../media/clip.mp4'), scratch.file('inbox', 'clip.mp4'));
    const ended = await image.dropcast(volumes, 'once');
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
    expect([...host.videos.values()].map(({ title, bodies }) => [title, bodies.length])).toEqual([['clip', 1]]);
  });
});
