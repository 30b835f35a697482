import { mkdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { folderHints } from '../../../src/cli/configure/folder-hints.ts';
import type { WatchingMachine } from '../../../src/cli/configure/folder-hints.ts';
import type { Config } from '../../../src/config/config.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

const usual: WatchingMachine = { fstab: '', mountinfo: '1 0 8:1 / / rw', watches: 100, shareOf: async () => null };

async function said(
  machine: Partial<WatchingMachine> | ((path: string) => Partial<WatchingMachine>),
  watch: 'auto' | 'native' | 'polling' = 'auto',
): Promise<readonly string[]> {
  await using scratch = await scratchDirectory();
  for (const name of ['nas/in/a/b', 'nas/in/c']) await mkdir(scratch.file(name), { recursive: true });
  const folders = [{ key: 'folders[0]', path: scratch.file('nas/in'), watch }] as unknown as Config['folders'];
  const other = typeof machine === 'function' ? machine(scratch.path) : machine;
  const hints = await folderHints({ folders }, { ...usual, ...other });
  return hints.map(({ key, message }) => `${key}: ${message.replaceAll(scratch.path, '')}`);
}

test('an ordinary folder needs no hint', async () => {
  expect(await said({})).toEqual([]);
});

test('a share that is in fstab and not mounted is named, with the command', async () => {
  const fstab = (path: string): string =>
    `# nas\nnas:/v ${path}/nas nfs4 defaults,_netdev 0 0\nUUID=1 / ext4 defaults 0 1\n`;
  expect(await said((path) => ({ fstab: fstab(path) }))).toEqual([
    "folders[0].path: /nas/in is on /nas, which is in /etc/fstab but not mounted: `sudo mount '/nas'`, otherwise dropcast watches the directory under the mount point",
  ]);
  expect(
    await said((path) => ({ fstab: fstab(path), mountinfo: `${usual.mountinfo}\n2 1 0:50 / ${path}/nas rw` })),
  ).toEqual([]);
});

test('a folder on a share is named with what follows for its files', async () => {
  const share = { shareOf: async () => 'NFS' };
  expect(await said(share)).toEqual([expect.stringMatching(/is on NFS, .*scans it every 5 s, .* 10 s longer$/)]);
  expect(await said(share, 'native')).toEqual([expect.stringMatching(/is on NFS, .*; set watch: auto/)]);
  expect(await said(share, 'polling')).toEqual([]);
});

test('a limit of watches that is too low for the directories is named with the sysctl that is enough', async () => {
  expect(await said({ watches: 4 })).toEqual([]);
  expect(await said({ watches: 3 })).toEqual([
    'folders[0].path: the folders have more directories than the 3 inotify watches that a user may have: raise it with `sudo sysctl fs.inotify.max_user_watches=8`, permanently in /etc/sysctl.d',
  ]);
  expect(await said({ watches: 3 }, 'polling')).toEqual([]);
  expect(await said({ watches: null })).toEqual([]);
});
