import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, open } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { versionOf } from '../../src/pipeline/file/file-version.ts';
import { OpenWriters } from '../../src/watch/open-writers.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { FakeClock } from './fake-clock.ts';
import { needs } from '../support/needs.ts';

async function someFile() {
  const directory = await scratchDirectory();
  const path = await directory.write('clip.mp4', 'content');
  return {
    path,
    version: versionOf(await lstat(path, { bigint: true })),
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

/** Another process that has the file open with the redirection until its input ends. */
async function holder(path: string, redirection: string) {
  const child = spawn('sh', ['-c', `exec 3${redirection}"$1"; echo open; read line`, 'sh', path]);
  await once(child.stdout, 'data');
  const end = async (): Promise<void> => {
    child.stdin.end();
    await once(child, 'exit');
  };
  return { pid: child.pid, end };
}

describe('a file that another process has open', needs('/proc'), () => {
  test.each(['>>', '<>'])('with %s has a writer, until it is closed', async (redirection) => {
    await using file = await someFile();
    const writers = new OpenWriters();
    const held = await holder(file.path, redirection);
    expect(await writers.of(file.version, 5000)).toEqual({ pid: held.pid, command: 'sh' });
    await held.end();
    expect(await writers.of(file.version, 5000)).toBeNull();
  });

  test('for reading has no writer', async () => {
    await using file = await someFile();
    const held = await holder(file.path, '<');
    expect(await new OpenWriters().of(file.version, 5000)).toBeNull();
    await held.end();
  });

  test('that has the same inode number on another device has no writer', async () => {
    await using file = await someFile();
    const held = await holder(file.path, '>>');
    expect(await new OpenWriters().of({ ...file.version, dev: '999999' }, 5000)).toBeNull();
    await held.end();
  });
});

test('our own process is not a writer', async () => {
  await using file = await someFile();
  await using handle = await open(file.path, 'r+');
  expect(handle.fd).toBeGreaterThan(0);
  expect(await new OpenWriters().of(file.version, 5000)).toBeNull();
});

test('one pass serves a second, but not a file that changed since', async () => {
  await using file = await someFile();
  const clock = new FakeClock();
  const writers = new OpenWriters('/proc', clock);
  await writers.of(file.version, 5000);
  const held = await holder(file.path, '>>');
  clock.advance(900);
  expect(await writers.of(file.version, 5000)).toBeNull();
  expect(await writers.of(file.version, 300)).toMatchObject({ pid: held.pid });
  await held.end();
});

test('without /proc there is no veto', async () => {
  await using file = await someFile();
  expect(await new OpenWriters('/nowhere').of(file.version, 5000)).toBeNull();
});
