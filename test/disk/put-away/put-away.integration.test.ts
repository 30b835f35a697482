import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { AfterReady } from '../../../src/config/config.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { versionOf } from '../../../src/pipeline/file/file-version.ts';
import { someFacts } from '../../pipeline/some-facts.ts';
import { smallDisk } from '../../ledger/small-disk.ts';
import { needs } from '../../support/needs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { atEachMoment, killedAtEachCall, moments, systemError } from './moments.ts';
import { filesOfQuietFolders } from '../quiet-folder.ts';

vi.mock('node:fs/promises', async (original) => {
  const { observed } = await import('./moments.ts');
  return observed(await original());
});

const { signal } = new AbortController();
const sent = 'what was sent';
const newer = 'never sent yet';

/** How a disk may refuse a system call. */
type Refusal = (name: string, given: readonly unknown[]) => void;
const toOther: Refusal = (name, [from, to]) => {
  // The kernel says EEXIST first.
  if (name === 'link' && isInDone(from) !== isInDone(to) && !existsSync(String(to))) throw systemError('EXDEV', 'link');
};
const noLinks: Refusal = (name) => {
  if (name === 'link') throw systemError('EPERM', 'link');
};

const ways: readonly [string, AfterReady, Refusal | undefined][] = [
  ['deleted', { kind: 'delete' }, undefined],
  ['moved', { kind: 'move', to: 'done' }, undefined],
  ['moved to another file system', { kind: 'move', to: 'done' }, toOther],
  ['moved where there are no hard links', { kind: 'move', to: 'done' }, noLinks],
];

/** `done` is another file system for them. */
function isInDone(path: unknown): boolean {
  return statSync(dirname(String(path))).ino === doneIno;
}
let doneIno = 0;

async function folderWithVideo(afterReady: AfterReady, content = sent) {
  const scratch = await scratchDirectory();
  mkdirSync(scratch.file('done'));
  doneIno = statSync(scratch.file('done')).ino;
  const clip = scratch.file('clip.mp4');
  writeFileSync(clip, content);
  const version = versionOf(lstatSync(clip, { bigint: true }));
  const sha256 = createHash('sha256').update(content).digest('hex');
  const facts = someFacts({ folder: scratch.path, path: 'clip.mp4', version, sha256, afterReady });
  return { scratch, clip, facts, [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose]() };
}

/** The content of every file below a directory, hidden ones too. */
function contentsOf(path: string): readonly string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .toSorted();
}

const local = filesOfQuietFolders();
const put = (facts: Facts) => local.dispose(facts, signal, true);

test.each<readonly [string, string, object]>([
  ['mkdir', 'EACCES', { kind: 'transient', message: expect.stringContaining('write access to the directory') }],
  ['rename', 'EPERM', { kind: 'transient', message: expect.stringContaining('write access to the directory') }],
  ['link', 'EACCES', { kind: 'transient', message: expect.stringContaining('write access to the directory') }],
  ['link', 'EROFS', { kind: 'suspended', message: expect.stringContaining('read-only') }],
  [
    'link',
    'ENOSPC',
    { kind: 'suspended', message: expect.stringMatching(/^the disk of \/.* is full: .*`df -h '\/.*'`/) },
  ],
  ['link', 'EDQUOT', { kind: 'suspended', message: expect.stringMatching(/^the disk quota for \/.*`df -h '\/.*'`/) }],
  ['link', 'ENAMETOOLONG', { kind: 'transient', message: expect.stringContaining('shorten the name of the file') }],
  ['link', 'ENOENT', { kind: 'transient', code: 'directory_gone' }],
])(
  'a file stays under its name while %s fails with %s, and goes when it no longer does',
  async (call, code, failure) => {
    await using there = await folderWithVideo({ kind: 'move', to: 'done' });
    moments.before = (name, [, to]) => {
      // The way back stays open.
      if (name === call && (call !== 'link' || isInDone(to))) throw systemError(code, call);
    };
    expect(await put(there.facts)).toMatchObject({ ok: false, failure: { code, ...failure } });
    expect(readdirSync(there.scratch.path)).toEqual(['clip.mp4', 'done']);
    moments.reset();
    expect(await put(there.facts)).toMatchObject({ ok: true, value: { path: 'done/clip.mp4' } });
  },
);

describe.each(ways)('a file that is %s', (_, afterReady, refusal) => {
  const intruders: readonly [string, (clip: string) => void][] = [
    [
      'replaced by a rename',
      (clip) => {
        writeFileSync(`${clip}.tmp`, newer);
        renameSync(`${clip}.tmp`, clip);
      },
    ],
    [
      'removed and written again',
      (clip) => {
        rmSync(clip, { force: true });
        writeFileSync(clip, newer);
      },
    ],
  ];

  test.each(intruders)('%s: the new file is never lost, whenever it comes', async (_, replace) => {
    const moments = await atEachMoment(async (meddleAt) => {
      await using there = await folderWithVideo(afterReady);
      let isThere = false;
      meddleAt(() => {
        replace(there.clip);
        isThere = true;
      }, refusal);
      await put(there.facts);
      expect(contentsOf(there.scratch.path).filter((content) => content === newer)).toHaveLength(isThere ? 1 : 0);
    });
    expect(moments).toBeGreaterThan(5);
  });

  test('is overwritten in place with its old times, and stays as it is then', async () => {
    await atEachMoment(async (meddleAt) => {
      await using there = await folderWithVideo(afterReady);
      const { atime, mtime } = statSync(there.clip);
      let isWritten = false;
      meddleAt(() => {
        if (!existsSync(there.clip)) return;
        writeFileSync(there.clip, sent.toUpperCase());
        utimesSync(there.clip, atime, mtime);
        isWritten = true;
      }, refusal);
      await put(there.facts);
      if (isWritten) expect(contentsOf(there.scratch.path)).toEqual([sent.toUpperCase()]);
    });
  });

  test('is found again after a kill at any moment, and put away once', async () => {
    const kills = await killedAtEachCall(async (begin, restart) => {
      await using there = await folderWithVideo(afterReady);
      begin(refusal);
      await put(there.facts);
      restart();
      begin(refusal);
      const answer = await put(there.facts);
      restart();
      const isGone = !answer.ok && answer.failure.kind === 'vanished';
      if (afterReady.kind === 'delete') expect(isGone || (answer.ok && answer.value === null)).toBe(true);
      else expect(answer).toMatchObject({ ok: true, value: { path: 'done/clip.mp4' } });
      expect(contentsOf(there.scratch.path)).toEqual(afterReady.kind === 'delete' ? [] : [sent]);
      expect(readdirSync(there.scratch.path)).toEqual(['done']);
    });
    expect(kills).toBeGreaterThan(10);
  });
});

test(
  'a file that has no room on the file system it is to be moved to is not read until there is',
  needs('mount'),
  async () => {
    await using disk = await smallDisk('64k');
    await using there = await folderWithVideo({ kind: 'move', to: 'done' }, 'x'.repeat(100_000));
    const done = there.scratch.file('done');
    expect(spawnSync('mount', ['--bind', disk.path, done]).status).toBe(0);
    try {
      const calls: string[] = [];
      moments.before = (name) => calls.push(name);
      expect(await put(there.facts)).toMatchObject({ ok: false, failure: { kind: 'suspended', code: 'ENOSPC' } });
      moments.reset();
      expect(calls).not.toContain('rename');
      expect(readdirSync(there.scratch.path)).toEqual(['clip.mp4', 'done']);
      disk.remount('size=1m');
      expect(await put(there.facts)).toMatchObject({ ok: true, value: { path: 'done/clip.mp4' } });
    } finally {
      spawnSync('umount', [done]);
    }
  },
);
