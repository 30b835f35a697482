import { chown, mkdir, rename, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { startDaemon } from '../../src/daemon/daemon.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { loadedConfig } from '../support/configuration.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';

const notify = [{ type: 'command' as const, name: 'anna', command: ['/bin/true'] }];

test.each([
  ['is a fact of its row, by name', { owners: { anna: 'anna' } }, userInfo().username],
  ['is not read where no target is chosen by owner', ['anna'], null],
])('the owner of a file %s', async (_, people, owner) => {
  await using scratch = await scratchDirectory();
  await mkdir(scratch.file('inbox'));
  await using daemon = await startDaemon(
    await loadedConfig(scratch, { notify, folders: [{ notify: people }] }),
    silentLogger,
  );
  await writeFile(scratch.file('inbox', 'clip.mp4'), 'content');
  const [facts] = await until('it came in', async () => {
    const rows = await daemon.ledger.rows({ group: 'any' });
    return rows.length > 0 && rows;
  });
  expect(facts?.owner).toBe(owner);
});

test.runIf(process.getuid?.() === 0)(
  'of a user without a name, the number is known, also if the file is held',
  async () => {
    await using scratch = await scratchDirectory();
    await mkdir(scratch.file('inbox'));
    const rules = [{ match: 'news/**', channel: 'ch_main' }];
    const folders = [{ rules, notify: { owners: { '54321': 'anna' } } }];
    await using daemon = await startDaemon(await loadedConfig(scratch, { notify, folders }), silentLogger);
    await writeFile(scratch.file('inbox', '.clip.mp4'), 'content');
    await chown(scratch.file('inbox', '.clip.mp4'), 54_321, 54_321);
    await rename(scratch.file('inbox', '.clip.mp4'), scratch.file('inbox', 'clip.mp4'));
    const [facts] = await until('it came in', async () => {
      const rows = await daemon.ledger.rows({ group: 'any' });
      return rows.length > 0 && rows;
    });
    expect(facts).toMatchObject({ owner: '54321', end: 'held' });
  },
);
