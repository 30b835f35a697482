import { mkdir, rename, stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openSharedFolders, sharedFoldersNow } from '../../src/fleet/places.ts';
import { RootCheck } from '../../src/watch/root-check.ts';
import { placeMark } from '../../src/watch/root-mark.ts';
import { someVersion } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';

const owner = { ledger: 'a'.repeat(32), stateDir: '/var/lib/dropcast', host: null, hostName: 'ingest1' };

async function deviceOf(path: string): Promise<string> {
  return String((await stat(path, { bigint: true })).dev);
}

test('a directory without the mark of the share is not taken for it by its device', async () => {
  await using scratch = await scratchDirectory();
  const shared = [{ path: scratch.path, place: 'nas1:' }];
  expect(await sharedFoldersNow(shared)).toEqual([{ folder: scratch.path, place: 'nas1:', device: null }]);
  await placeMark(scratch.path, { ...owner, place: 'nas2:' });
  expect((await sharedFoldersNow(shared))[0]?.device).toBe(null);
});

test('the device of a share is known soon after it is marked, and no longer once it is not mounted', async () => {
  await using scratch = await scratchDirectory();
  const path = scratch.file('nas');
  await mkdir(path);
  await using folders = await openSharedFolders(() => [{ path, place: 'nas1:' }]);
  expect(folders.now()[0]?.device).toBe(null);
  await placeMark(path, { ...owner, place: 'nas1:' });
  const device = await deviceOf(path);
  await until('its device is known', () => folders.now()[0]?.device === device);
  await rename(path, scratch.file('unmounted'));
  await mkdir(path);
  await folders.look();
  expect(folders.now()[0]?.device).toBe(null);
});

test('a host that starts for the first time with an empty mount point leaves the share of others alone', async () => {
  await using scratch = await scratchDirectory();
  const known = new Map([['clip.mp4', someVersion]]);
  const look = async (mark: string | null): Promise<unknown> => {
    const check = new RootCheck({ path: scratch.path, mark: async () => mark });
    const [share] = await sharedFoldersNow([{ path: scratch.path, place: 'nas1:' }]);
    check.remember(null, new Set([share?.device ?? '']));
    return check.look(known);
  };
  expect(await look(null)).toMatchObject({ isSound: false, why: expect.stringContaining('not mounted') });
  await placeMark(scratch.path, { ...owner, place: 'nas1:' });
  expect(await look('its mark')).toEqual({ isSound: true });
});
