import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { lstat, mkdir, open, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { versionOf } from '../../src/pipeline/file/file-version.ts';
import { OpenWriters, SharedMappings } from '../../src/watch/open-writers.ts';
import { someVersion } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { FakeClock } from './fake-clock.ts';
import { needs } from '../support/needs.ts';
import { eventually } from '../support/until.ts';

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

/** Maps the file as said, closes it, and keeps the memory until its input ends. Python's own `mmap` would keep it open. */
const mapper = `
import ctypes, os, sys
path, flags, protection, sharing = sys.argv[1], *map(int, sys.argv[2:])
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
descriptor = os.open(path, flags)
assert libc.mmap(None, os.fstat(descriptor).st_size, protection, sharing, descriptor, 0) != ctypes.c_void_p(-1).value
os.close(descriptor)
print('mapped', flush=True)
sys.stdin.readline()
`;
const [read, write, shared, ownCopy] = [1, 2, 1, 2];

async function mapping(path: string, protection: number, sharing: number) {
  const args = ['-c', mapper, path, String(constants.O_RDWR), String(protection), String(sharing)];
  const child = spawn('python3', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const end = async (): Promise<void> => {
    child.stdin.end();
    await once(child, 'exit');
  };
  return { pid: child.pid, end };
}

describe('a file that another process has closed and mapped', needs('/proc', 'python3'), () => {
  test.each([
    ['for reading and writing', read | write],
    ['for writing alone', write],
  ])('%s has a writer, until it is unmapped', async (_how, protection) => {
    await using file = await someFile();
    const writers = new OpenWriters('/proc', new FakeClock());
    const mapped = await mapping(file.path, protection, shared);
    // Several ask at once, as when many files settle together.
    const answers = await Promise.all([1, 2, 3].map(() => writers.of(file.version, 5000)));
    expect(answers).toEqual(answers.map(() => ({ pid: mapped.pid, command: expect.stringContaining('python') })));
    expect(await writers.of({ ...file.version, dev: '999999' }, 5000)).toBeNull();
    await mapped.end();
    expect(await writers.of(file.version, 5000)).toBeNull();
  });

  test.each([
    ['for reading', read, shared],
    ['as a private copy', read | write, ownCopy],
  ])('%s has no writer', async (_how, protection, sharing) => {
    await using file = await someFile();
    const mapped = await mapping(file.path, protection, sharing);
    expect(await new OpenWriters().of(file.version, 5000)).toBeNull();
    await mapped.end();
  });

  test('has a writer also if its name is a strange one', async () => {
    await using directory = await scratchDirectory();
    const path = await directory.write('a b\n\u00e9 (deleted).mp4', 'content');
    const mapped = await mapping(path, read | write, shared);
    const version = versionOf(await lstat(path, { bigint: true }));
    expect(await new OpenWriters().of(version, 5000)).toMatchObject({ pid: mapped.pid });
    await mapped.end();
  });
});

test('a process whose memory map cannot be read delays nothing, and is examined once', async () => {
  await using directory = await scratchDirectory();
  const path = directory.file('1', 'maps');
  await mkdir(directory.file('1'));
  await mkdir(directory.file('2'));
  // Whoever opens a pipe waits for its other end.
  execFileSync('mkfifo', [path]);
  const clock = new FakeClock();
  const mappings = new SharedMappings(directory.path, clock);
  const version = { ...someVersion, ino: '7' };
  const first = mappings.of(version, 5000);
  await eventually('it is read', () => expect(clock.timers).toBe(1));
  clock.advance(2000);
  expect(await first).toBeNull();
  clock.advance(5000);
  expect(await mappings.of(version, 5000)).toBeNull();
  expect(clock.timers).toBe(0);
  await writeFile(path, '');
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
