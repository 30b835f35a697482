import { createHash } from 'node:crypto';
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { lstat, mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import type { AfterReady } from '../../../src/config/config.ts';
import { versionOf } from '../../../src/pipeline/file/file-version.ts';
import { OpenWriters } from '../../../src/watch/open-writers.ts';
import { someFacts } from '../../pipeline/some-facts.ts';
import { needs } from '../../support/needs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { filesOfQuietFolders } from '../quiet-folder.ts';

const { signal } = new AbortController();
const writers = new OpenWriters();
const local = filesOfQuietFolders({
  writerOf: async (version) => (await writers.of(version, 0))?.command ?? null,
});

async function drop(folder: string, path: string, content: string, afterReady: AfterReady) {
  await writeFile(join(folder, `${path}.tmp`), content);
  const version = versionOf(await lstat(join(folder, `${path}.tmp`), { bigint: true }));
  const sha256 = createHash('sha256').update(content).digest('hex');
  await rename(join(folder, `${path}.tmp`), join(folder, path));
  return someFacts({ id: `f_${path}`, folder, path, version, sha256, afterReady });
}

async function contentsOf(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')));
}

/** Without the veto of a writer: the racer would rarely get its chance. */
const unguarded = filesOfQuietFolders();
const rounds = 12;

/** A process that puts a new file where each of ours is put away, while it is. */
async function race(folder: string, afterReady: AfterReady): Promise<void> {
  const racer = spawn(process.execPath, [join(import.meta.dirname, 'racer.mjs'), folder, String(rounds)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: racer.stdout })[Symbol.asyncIterator]();
  try {
    for (let n = 0; n < rounds; n += 1) {
      const facts = await drop(folder, `clip-${n}.mp4`, `sent ${n}`, afterReady);
      expect((await lines.next()).value).toBe(`sees ${n}`);
      await unguarded.dispose(facts, signal, true);
      expect((await lines.next()).value).toBe(`placed ${n}`);
    }
  } finally {
    racer.kill('SIGKILL');
  }
  const contents = await contentsOf(folder);
  const missing = Array.from({ length: rounds }, (_, n) => `new ${n}`).filter((content) => !contents.includes(content));
  expect(missing).toEqual([]);
}

describe('no file that takes the name of one that is put away is ever lost', () => {
  test('while that is deleted', async () => {
    await using folder = await scratchDirectory();
    await race(folder.path, { kind: 'delete' });
  });

  test('while that is moved', async () => {
    await using folder = await scratchDirectory();
    await race(folder.path, { kind: 'move', to: 'done' });
  });

  test('while that is moved to another file system', needs('mount'), async () => {
    await using folder = await scratchDirectory();
    await mkdir(folder.file('done'));
    spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', folder.file('done')]);
    try {
      await race(folder.path, { kind: 'move', to: 'done' });
    } finally {
      spawnSync('umount', [folder.file('done')]);
    }
  });
});

test(
  'a file that a process has open for writing stays under its name until that is closed',
  needs('/proc'),
  async () => {
    await using folder = await scratchDirectory();
    const facts = await drop(folder.path, 'clip.mp4', 'sent', { kind: 'delete' });
    const writer = spawn(process.execPath, [
      '-e',
      'fs.openSync(process.argv[1], "r+"); console.log(1); setInterval(() => 0, 1e6)',
      folder.file('clip.mp4'),
    ]);
    try {
      await createInterface({ input: writer.stdout })[Symbol.asyncIterator]().next();
      expect(await local.dispose(facts, signal, true)).toMatchObject({
        ok: false,
        failure: { kind: 'transient', code: 'in_use' },
      });
      expect(await readdir(folder.path)).toEqual(['clip.mp4']);
    } finally {
      const ended = new Promise((resolve) => writer.once('exit', resolve));
      writer.kill('SIGKILL');
      await ended;
    }
    expect(await local.dispose(facts, signal, true)).toEqual({ ok: true, value: null });
  },
);

test('what is written through an open descriptor while the file is read again is kept', async () => {
  await using folder = await scratchDirectory();
  const facts = await drop(folder.path, 'clip.mp4', 'sent', { kind: 'delete' });
  const descriptor = openSync(folder.file('clip.mp4'), 'r+');
  let looks = 0;
  const writing = filesOfQuietFolders({
    // The second look comes after the file was taken: nobody can open it from then on, but this one is open.
    writerOf: async () => {
      looks += 1;
      if (looks === 2) writeSync(descriptor, 'SENT');
      return null;
    },
  });
  expect(await writing.dispose(facts, signal, true)).toMatchObject({ ok: false, failure: { kind: 'changed' } });
  closeSync(descriptor);
  expect(await readFile(folder.file('clip.mp4'), 'utf8')).toBe('SENT');
  expect(looks).toBe(2);
});
