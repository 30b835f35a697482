import { createHash } from 'node:crypto';
import { appendFileSync, chmodSync, unlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

import { AbortedError, FileChangedError, FileVanishedError } from '../../../packages/client/src/errors.ts';
import { hashFile, openChecked } from '../../../packages/client/src/upload/opened-file.ts';
import { tempFolder } from '../upload-host.ts';

const { signal } = new AbortController();

describe('hashing a file', () => {
  test.each([0, 1, 1024 * 1024, 2_500_001])('of %i bytes gives its SHA-256', async (bytes) => {
    using folder = tempFolder();
    const content = Buffer.alloc(bytes, 'abc');
    const { path, expected } = folder.file('clip.mp4', content);
    expect(await hashFile(folder.path, path, expected, signal)).toBe(
      createHash('sha256').update(content).digest('hex'),
    );
  });

  test('is refused for another version and for none', async () => {
    using folder = tempFolder();
    const { path, expected } = folder.file('clip.mp4', 'abc');
    appendFileSync(path, 'd');
    await expect(hashFile(folder.path, path, expected, signal)).rejects.toThrow(FileChangedError);
    unlinkSync(path);
    await expect(hashFile(folder.path, path, expected, signal)).rejects.toThrow(FileVanishedError);
  });

  test('takes a changed mode for no change', async () => {
    using folder = tempFolder();
    const { path, expected } = folder.file('clip.mp4', 'abc');
    chmodSync(path, 0o400);
    await expect(hashFile(folder.path, path, expected, signal)).resolves.toHaveLength(64);
  });

  test('stops when it is told to', async () => {
    using folder = tempFolder();
    const { path, expected } = folder.file('clip.mp4', Buffer.alloc(8 * 1024 * 1024));
    const stop = new AbortController();
    const work = hashFile(folder.path, path, expected, stop.signal);
    setImmediate(() => stop.abort());
    await expect(work).rejects.toThrow(AbortedError);
  });
});

describe('an opened file', () => {
  test('tells a touched descriptor from a changed one', async () => {
    using folder = tempFolder();
    const { path, expected } = folder.file('clip.mp4', 'abc');
    await using file = await openChecked(folder.path, path, expected);
    expect(await file.recheck()).toBe('same');
    chmodSync(path, 0o400);
    expect(await file.recheck()).toBe('touched');
    chmodSync(path, 0o600);
    appendFileSync(path, 'd');
    await expect(file.recheck()).rejects.toThrow(/has 4 bytes, 3 were accepted/);
  });

  test.each(['ino', 'birthtimeNs', 'size', 'mtimeNs'] as const)('is refused when %s is another', async (field) => {
    using folder = tempFolder();
    const { path, expected } = folder.file('clip.mp4', 'abc');
    const other = { ...expected, [field]: field === 'size' ? 4 : '12345' };
    await expect(openChecked(folder.path, path, other)).rejects.toThrow(FileChangedError);
  });

  test('is the same when its device has another number, as after a remount', async () => {
    using folder = tempFolder();
    const { path, expected } = folder.file('clip.mp4', 'abc');
    await using file = await openChecked(folder.path, path, { ...expected, dev: '999999' });
    expect(await file.recheck()).toBe('same');
  });

  test('names the file and quotes it in what it complains of', async () => {
    using folder = tempFolder();
    const { path, expected } = folder.file('new\nline.mp4', 'abc');
    await expect(openChecked(folder.path, path, { ...expected, mtimeNs: '1' })).rejects.toThrow(
      /new\\nline\.mp4" was written to$/,
    );
  });
});
