import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { link, lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { installedService } from '../../src/config/installed-service.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { versionOf } from '../../src/pipeline/file/file-version.ts';
import { smallDisk } from '../ledger/small-disk.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { needs } from '../support/needs.ts';
import { mountShare } from '../support/share.ts';
import { until } from '../support/until.ts';
import { filesOfQuietFolders } from './quiet-folder.ts';

const { signal } = new AbortController();
const files = filesOfQuietFolders();

async function accepted(folder: string, path: string, other: Partial<Facts> = {}): Promise<Facts> {
  const version = versionOf(await lstat(join(folder, path), { bigint: true }));
  const sha256 = createHash('sha256')
    .update(await readFile(join(folder, path)))
    .digest('hex');
  return someFacts({ folder, path, version, sha256, ...other });
}

describe('moving after ready', () => {
  const afterReady = { kind: 'move', to: 'done' } as const;

  test('takes a free name and overwrites nothing', async () => {
    await using folder = await scratchDirectory();
    await mkdir(join(folder.path, 'done'));
    await writeFile(join(folder.path, 'done/clip.mp4'), 'older');
    await writeFile(join(folder.path, 'clip.mp4'), 'newer');
    const answer = await files.dispose(await accepted(folder.path, 'clip.mp4', { afterReady }), signal, true);
    expect(answer).toMatchObject({ ok: true, value: { path: 'done/clip (2).mp4' } });
    expect(await readFile(join(folder.path, 'done/clip.mp4'), 'utf8')).toBe('older');
    expect(await readdir(folder.path)).toEqual(['done']);
  });

  test('continues after a crash between the new name and the removal of the old one', async () => {
    await using folder = await scratchDirectory();
    await mkdir(join(folder.path, 'done'));
    await writeFile(join(folder.path, 'clip.mp4'), 'bytes');
    await link(join(folder.path, 'clip.mp4'), join(folder.path, 'done/clip.mp4'));
    const answer = await files.dispose(await accepted(folder.path, 'clip.mp4', { afterReady }), signal, true);
    expect(answer).toMatchObject({ ok: true, value: { path: 'done/clip.mp4' } });
    expect(await readdir(join(folder.path, 'done'))).toEqual(['clip.mp4']);
    expect(await readdir(folder.path)).toEqual(['done']);
  });

  test(
    'waits with advice while the folder is read-only, as a recreated one is for a service',
    needs('mount'),
    async () => {
      await using folder = await smallDisk('1m');
      await writeFile(join(folder.path, 'clip.mp4'), 'bytes');
      const facts = await accepted(folder.path, 'clip.mp4', { afterReady });
      folder.remount('ro');
      const service = filesOfQuietFolders({ service: installedService('news') });
      const restart = expect.stringContaining('`sudo systemctl restart dropcast@news`');
      for (const way of [afterReady, { kind: 'delete' } as const]) {
        const waiting = { kind: 'suspended', code: 'EROFS', message: restart };
        expect(await service.dispose({ ...facts, afterReady: way }, signal, true)).toMatchObject({
          ok: false,
          failure: waiting,
        });
      }
      folder.remount('rw');
      expect(await files.dispose(facts, signal, true)).toMatchObject({ ok: true, value: { path: 'done/clip.mp4' } });
    },
  );

  test('waits as well while only the directory that it goes to is read-only', needs('mount'), async () => {
    await using folder = await scratchDirectory();
    await writeFile(join(folder.path, 'clip.mp4'), 'bytes');
    const facts = await accepted(folder.path, 'clip.mp4', { afterReady: { kind: 'move', to: 'done/2026/{folder}' } });
    await mkdir(join(folder.path, 'done'));
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', join(folder.path, 'done')]);
    try {
      expect(await files.dispose(facts, signal, true)).toMatchObject({
        ok: false,
        failure: { kind: 'suspended', code: 'EROFS' },
      });
      expect(await readdir(folder.path)).toEqual(['clip.mp4', 'done']);
    } finally {
      spawnSync('umount', [join(folder.path, 'done')]);
    }
  });

  test('never leads out of the folder through a link', async () => {
    await using folder = await scratchDirectory();
    await using elsewhere = await scratchDirectory();
    await symlink(elsewhere.path, join(folder.path, 'done'));
    await writeFile(join(folder.path, 'clip.mp4'), 'bytes');
    const answer = await files.dispose(await accepted(folder.path, 'clip.mp4', { afterReady }), signal, true);
    expect(answer.ok).toBe(false);
    expect(await readdir(elsewhere.path)).toEqual([]);
    expect(await readFile(join(folder.path, 'clip.mp4'), 'utf8')).toBe('bytes');
  });
});

describe('an after_ready action', () => {
  test.each([
    ['of a newer version', { kind: 'archive', to: 'tape' }, 'unknown_after_ready'],
    ['that names a method of every object', { kind: 'constructor' }, 'unknown_after_ready'],
    ['that is missing', {}, 'unknown_after_ready'],
    ['that asks for nothing', { kind: 'keep' }, 'nothing_to_put_away'],
  ])('%s keeps the file and reports it', async (_, action, code) => {
    await using folder = await scratchDirectory();
    await writeFile(join(folder.path, 'clip.mp4'), 'bytes');
    const facts = await accepted(folder.path, 'clip.mp4', { afterReady: action as Facts['afterReady'] });
    expect(await files.dispose(facts, signal, true)).toMatchObject({ ok: false, failure: { kind: 'permanent', code } });
    expect(await readdir(folder.path)).toEqual(['clip.mp4']);
  });

  test('"delete" removes the file and nothing else', async () => {
    await using folder = await scratchDirectory();
    await writeFile(join(folder.path, 'clip.mp4'), 'bytes');
    await writeFile(join(folder.path, 'other.mp4'), 'bytes');
    const facts = await accepted(folder.path, 'clip.mp4', { afterReady: { kind: 'delete' } });
    expect(await files.dispose(facts, signal, true)).toEqual({ ok: true, value: null });
    expect(await readdir(folder.path)).toEqual(['other.mp4']);
  });

  test('"delete" touches nothing while it is unknown whether the service has the video', async () => {
    await using folder = await scratchDirectory();
    await writeFile(join(folder.path, 'clip.mp4'), 'bytes');
    const facts = await accepted(folder.path, 'clip.mp4', { afterReady: { kind: 'delete' } });
    expect(await files.dispose(facts, signal, false)).toMatchObject({ ok: false, failure: { code: 'must_ask_first' } });
    expect(await readdir(folder.path)).toEqual(['clip.mp4']);
  });
});

test('a link file without an address is never taken for a video', async () => {
  await using folder = await scratchDirectory();
  await writeFile(join(folder.path, 'clip.url'), 'no address');
  const facts = await accepted(folder.path, 'clip.url');
  expect(await files.check(facts)).toMatchObject({ kind: 'permanent', code: 'no_address' });
  expect(await files.check({ ...facts, sourceUrl: 'https://example.com/clip.mp4' })).toBeNull();
});

test('a missing file is distinguished from a changed one', async () => {
  await using folder = await scratchDirectory();
  await writeFile(join(folder.path, 'clip.mp4'), 'bytes');
  const facts = await accepted(folder.path, 'clip.mp4');
  expect(await files.check(facts)).toBeNull();
  await writeFile(join(folder.path, 'clip.mp4'), 'other bytes');
  expect(await files.check(facts)).toMatchObject({ kind: 'changed' });
  await rm(join(folder.path, 'clip.mp4'));
  expect(await files.check(facts)).toMatchObject({ kind: 'vanished' });
});

test('a file with another device number is still the accepted one: a remount may renumber the device', async () => {
  await using folder = await scratchDirectory();
  await writeFile(join(folder.path, 'clip.mp4'), 'bytes');
  const facts = await accepted(folder.path, 'clip.mp4');
  const renumbered = { ...facts, version: { ...facts.version, dev: '999999' } };
  expect(await files.check(renumbered)).toBeNull();
  expect(await files.hash(renumbered, signal)).toMatchObject({ ok: true });
});

describe('a missing folder', () => {
  const away = { kind: 'suspended', code: 'folder_away', message: expect.stringContaining('it does not exist') };

  test('holds its files back, whatever is done with them, and none of them is vanished', async () => {
    await using base = await scratchDirectory();
    const folder = join(base.path, 'inbox');
    await mkdir(folder);
    await writeFile(join(folder, 'clip.mp4'), 'bytes');
    const facts = await accepted(folder, 'clip.mp4', { afterReady: { kind: 'delete' } });
    const asked: unknown[] = [];
    const whyAway = async (...question: readonly unknown[]): Promise<string | null> => {
      asked.push(question);
      return (await lstat(folder).catch(() => null)) === null ? 'it does not exist' : null;
    };
    const local = filesOfQuietFolders({ whyAway });
    await rename(folder, join(base.path, 'away'));
    expect(await local.check(facts)).toMatchObject(away);
    expect(await local.hash(facts, signal)).toMatchObject({ ok: false, failure: away });
    expect(await local.dispose(facts, signal, true)).toMatchObject({ ok: false, failure: away });
    expect(asked).toEqual([1, 2, 3].map(() => [folder, 'clip.mp4']));
    await rename(join(base.path, 'away'), folder);
    expect(await local.check(facts)).toBeNull();
    expect(await local.hash(facts, signal)).toMatchObject({ ok: true });
    expect(asked).toHaveLength(3);
  });

  test('is checked only after the file was looked for', async () => {
    await using folder = await scratchDirectory();
    await writeFile(join(folder.path, 'clip.mp4'), 'bytes');
    const facts = await accepted(folder.path, 'clip.mp4');
    const local = filesOfQuietFolders({ whyAway: () => Promise.reject(new Error('nothing is missing')) });
    expect(await local.check(facts)).toBeNull();
  });

  // A stale share answers ESTALE for each file; a name that is too long stands in for it.
  test('may show in a file that cannot even be looked at', async () => {
    await using folder = await scratchDirectory();
    await writeFile(join(folder.path, 'clip.mp4'), 'bytes');
    const facts = await accepted(folder.path, 'clip.mp4');
    const tooLong = { ...facts, path: `${'x'.repeat(300)}.mp4` };
    const asked: unknown[] = [];
    const whyAway = async (...question: readonly unknown[]): Promise<string> => {
      asked.push(question);
      return 'it cannot be reached (ESTALE)';
    };
    const local = filesOfQuietFolders({ whyAway });
    expect(await local.check(tooLong)).toMatchObject({ kind: 'suspended', code: 'folder_away' });
    expect(await files.check(tooLong)).toMatchObject({ kind: 'transient', code: 'ENAMETOOLONG' });
    expect(asked).toEqual([[folder.path, undefined]]);
  });
});

test(
  'a look that gets no answer waits as long as the folder answers, and lets its file wait for the folder then',
  needs('mount', 'bindfs'),
  async () => {
    await using base = await scratchDirectory();
    const [behind, path] = [base.file('behind'), base.file('inbox')];
    for (const directory of [behind, path]) await mkdir(directory);
    await writeFile(join(behind, 'clip.mp4'), 'bytes');
    await using share = await mountShare(behind, path);
    const facts = await accepted(path, 'clip.mp4');
    const answers = [null, 'it does not answer'];
    const asked: unknown[][] = [];
    const local = filesOfQuietFolders({
      whyAway: async (...args) => {
        asked.push(args);
        return answers[asked.length - 1] ?? null;
      },
    });
    share.hang();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const checking = local.check(facts);
      await vi.advanceTimersByTimeAsync(5_000);
      expect(asked.map(([folder]) => folder)).toEqual([path]);
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await checking).toMatchObject({
        kind: 'suspended',
        code: 'folder_away',
        message: `${path}: it does not answer`,
      });
    } finally {
      vi.useRealTimers();
    }
    share.answer();
    await until('the file is looked at', async () => (await local.check(facts)) === null);
  },
);
