import { chmod, chown } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { canBeRefused } from '../config/as-nobody.ts';
import { dropcast } from './dropcast-process.ts';
import { startStation } from './station.ts';

const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

/** Root is refused nothing: then the daemon runs as nobody. */
test.skipIf(!canBeRefused)(
  'a file that the daemon may not read waits with the reason, and is uploaded once it may',
  async () => {
    await using station = await startStation({ isStarted: false, ...(isRoot && { uid: nobody }) });
    if (isRoot) {
      for (const path of [station.scratch.path, station.scratch.file('inbox'), station.scratch.config])
        await chown(path, nobody, nobody);
    }
    await station.start();
    const path = await station.drop('secret.mpg');
    await chmod(path, 0o000);
    await station.drop('open.mpg');
    await station.reaches('open.mpg', 'done');
    const waiting = async () => (await station.files()).settling.find((file) => file.path === path);
    await expect.poll(async () => (await waiting())?.why, { timeout: 20_000 }).toBe('it cannot be read (EACCES)');
    expect(station.videos('secret')).toHaveLength(0);
    const { stdout } = await dropcast(['status', '--config', station.scratch.config]);
    expect(stdout).toContain('1 settling');
    // A change of mode is a change of the file: it is looked at again at once, not at the next recheck.
    await chmod(path, 0o644);
    await station.reaches('secret.mpg', 'done', 40_000);
  },
);
