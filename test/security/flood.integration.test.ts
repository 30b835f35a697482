import { symlink, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

import { WatchedDirectory } from '../watch/watched-directory.ts';
import { eventually } from '../support/until.ts';

const count = 1_000;

/** Anybody who may write in a folder can make as many names as they like, before the start and while it runs. */
test.each(['before the start', 'while it runs'])(
  'a flood of links made %s takes a few log lines, every link is counted, and a video among them is offered',
  async (when) => {
    await using inbox = await WatchedDirectory.create({ folder: { settleMs: 50 } });
    const flood = async (): Promise<void> => {
      for (let n = 0; n < count; n += 1) await symlink('/etc/passwd', inbox.at(`${n}.mp4`));
    };
    if (when === 'before the start') await flood();
    await inbox.watcher.start();
    if (when === 'while it runs') await flood();
    await writeFile(inbox.at('film.mp4'), 'the film');
    await eventually('all of it is counted', async () => {
      // Events are hints: under load one may be lost, and the next scan finds its path.
      await inbox.watcher.rescan();
      expect(inbox.watcher.counts()).toMatchObject({ refused: count, offered: 1 });
    });
    const lines = inbox.log.filter(({ message }) => message.startsWith('Ignoring'));
    // Twenty and a number for each scan that came in between.
    expect(lines.length).toBeLessThan(100);
    const further = lines.flatMap(({ fields }) => (typeof fields['count'] === 'number' ? [fields['count']] : []));
    const named = lines.filter(({ message }) => message === 'Ignoring path').length;
    expect(named + further.reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(count);
    expect(inbox.paths).toEqual(['film.mp4']);
  },
);
