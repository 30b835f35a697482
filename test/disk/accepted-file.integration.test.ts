import { createHook } from 'node:async_hooks';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AbortedError, FileChangedError, FileUnreadableError, FileVanishedError } from '@dropcast/client';
import { hashAccepted, openAccepted, uploadSource } from '../../src/disk/accepted-file.ts';
import type { AcceptedFile } from '../../src/disk/accepted-file.ts';
import { requireWatched } from '../../src/disk/held-directory.ts';
import { versionOf } from '../../src/pipeline/file/file-version.ts';
import { openDaemonClient } from '../client/daemon-client.ts';
import { startHost, takeAll } from '../client/upload-host.ts';
import { scratchDirectory, type ScratchDirectory } from '../support/scratch-directory.ts';

const { signal } = new AbortController();
const isWatched = (): boolean => true;

async function accepted(folder: ScratchDirectory, content: Buffer | string, name = 'clip.mp4'): Promise<AcceptedFile> {
  const path = await folder.write(name, content);
  const version = versionOf(await lstat(path, { bigint: true }));
  return requireWatched({ folder: folder.path, path: basename(path), version }, isWatched);
}

const pathOf = ({ folder, path }: AcceptedFile): string => join(folder, path);

function openIn(folder: string): readonly string[] {
  const paths = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return paths.filter((path) => path.startsWith(folder));
}

describe('hashing an accepted file', () => {
  test.each([0, 1, 1024 * 1024, 2_500_001])('of %i bytes gives its SHA-256', async (bytes) => {
    await using folder = await scratchDirectory();
    const content = Buffer.alloc(bytes, 'abc');
    const file = await accepted(folder, content);
    expect(await hashAccepted(file, signal)).toBe(createHash('sha256').update(content).digest('hex'));
    expect(openIn(folder.path)).toEqual([]);
  });

  test('ignores a changed mode', async () => {
    await using folder = await scratchDirectory();
    const file = await accepted(folder, 'abc');
    chmodSync(pathOf(file), 0o400);
    await expect(hashAccepted(file, signal)).resolves.toHaveLength(64);
  });

  test('stops with the signal', async () => {
    await using folder = await scratchDirectory();
    const file = await accepted(folder, Buffer.alloc(8 * 1024 * 1024));
    const stop = new AbortController();
    const work = hashAccepted(file, stop.signal);
    setImmediate(() => stop.abort());
    await expect(work).rejects.toThrow(AbortedError);
    expect(openIn(folder.path)).toEqual([]);
  });
});

describe('an accepted file', () => {
  test.each(['ino', 'birthtimeNs', 'size', 'mtimeNs'] as const)('with another %s is not opened', async (field) => {
    await using folder = await scratchDirectory();
    const file = await accepted(folder, 'abc');
    const version = { ...file.version, [field]: field === 'size' ? 4 : '12345' };
    await expect(openAccepted({ ...file, version })).rejects.toThrow(FileChangedError);
    expect(openIn(folder.path)).toEqual([]);
  });

  test('that was reached through no link is only opened and looked at', async () => {
    await using folder = await scratchDirectory();
    const file = await accepted(folder, 'abc');
    let questions = 0;
    const counting = createHook({ init: (_, type) => void (questions += type === 'FSREQPROMISE' ? 1 : 0) }).enable();
    await using reader = await openAccepted(file);
    counting.disable();
    expect(questions).toBe(2);
    expect(reader.sizeBytes).toBe(3);
  });

  test('is opened in a folder that is itself reached through a link', async () => {
    await using folder = await scratchDirectory();
    await using elsewhere = await scratchDirectory();
    const file = await accepted(folder, 'abc');
    const link = join(elsewhere.path, 'inbox');
    symlinkSync(folder.path, link);
    await using reader = await openAccepted({ ...file, folder: link });
    expect(await reader.hash(signal)).toHaveLength(64);
  });

  test('on a device with another number is the same, as after a remount', async () => {
    await using folder = await scratchDirectory();
    const file = await accepted(folder, 'abc');
    await using reader = await openAccepted({ ...file, version: { ...file.version, dev: '999999' } });
    expect(await reader.hash(signal)).toHaveLength(64);
  });

  test('that was read is confirmed, unless it was written to since', async () => {
    await using folder = await scratchDirectory();
    const file = await accepted(folder, 'abc');
    await using reader = await openAccepted(file);
    const sha256 = await reader.hash(signal);
    await reader.confirm(sha256, signal);
    chmodSync(pathOf(file), 0o400);
    await reader.confirm(sha256, signal);
    chmodSync(pathOf(file), 0o600);
    appendFileSync(pathOf(file), 'd');
    await expect(reader.confirm(sha256, signal)).rejects.toThrow(FileChangedError);
  });

  test('is quoted in an error, whatever its name', async () => {
    await using folder = await scratchDirectory();
    const file = await accepted(folder, 'abc', 'new\nline.mp4');
    const changed = { ...file, version: { ...file.version, mtimeNs: '1' } };
    await expect(openAccepted(changed)).rejects.toThrow(/new\\nline\.mp4"/);
  });
});

describe('an upload of an accepted file', () => {
  async function refused(arrange: (path: string) => void): Promise<unknown> {
    await using host = await startHost(takeAll());
    await using opened = openDaemonClient('http://127.0.0.1:1/v1');
    await using folder = await scratchDirectory();
    const file = await accepted(folder, 'the film');
    arrange(pathOf(file));
    const error = await opened
      .send(uploadSource(file, isWatched), `${host.origin}/u`)
      .catch((reason: unknown) => reason);
    expect(openIn(folder.path)).toEqual([]);
    expect(host.seen).toEqual([]);
    return error;
  }

  test.each<[string, (path: string) => void, new (...args: never[]) => Error]>([
    ['is gone', (path) => unlinkSync(path), FileVanishedError],
    ['has another size', (path) => appendFileSync(path, 'x'), FileChangedError],
    ['has another mtime', (path) => utimesSync(path, 1, 1), FileChangedError],
    [
      'is another file of the same size and mtime',
      (path) => {
        const { atime, mtime } = statSync(path);
        renameSync(path, `${path}.old`);
        writeFileSync(path, 'the film');
        utimesSync(path, atime, mtime);
      },
      FileChangedError,
    ],
    [
      'is a symbolic link now',
      (path) => {
        renameSync(path, `${path}.real`);
        symlinkSync(`${path}.real`, path);
      },
      FileChangedError,
    ],
    [
      'is a directory now',
      (path) => {
        unlinkSync(path);
        mkdirSync(path);
      },
      FileChangedError,
    ],
    [
      'is a FIFO now, which must not block',
      (path) => {
        unlinkSync(path);
        execFileSync('mkfifo', [path]);
      },
      FileChangedError,
    ],
  ])('that %s sends nothing', async (_, arrange, kind) => {
    expect(await refused(arrange)).toBeInstanceOf(kind);
  });

  test('sends nothing when its directory became a link that leads out of the folder', async () => {
    await using outside = await scratchDirectory();
    await using folder = await scratchDirectory();
    const { version } = await accepted(outside, 'secret');
    symlinkSync(outside.path, join(folder.path, 'sub'));
    const error = await openAccepted(
      requireWatched({ folder: folder.path, path: 'sub/clip.mp4', version }, isWatched),
    ).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(FileUnreadableError);
    expect(error).toMatchObject({ code: 'outside_folder' });
    expect(openIn(outside.path)).toEqual([]);
  });

  test('works when the watched folder itself is reached through a link', async () => {
    await using host = await startHost(takeAll());
    await using opened = openDaemonClient('http://127.0.0.1:1/v1');
    await using folder = await scratchDirectory();
    await using links = await scratchDirectory();
    const file = await accepted(folder, 'x');
    const link = join(links.path, 'inbox');
    symlinkSync(folder.path, link);
    const sent = await opened.send(uploadSource({ ...file, folder: link }, isWatched), `${host.origin}/u`);
    expect(sent).toMatchObject({ sizeBytes: 1 });
  });
});
