import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import type { AfterReady } from '../../../src/config/config.ts';
import { versionOf } from '../../../src/pipeline/file/file-version.ts';
import { someFacts } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { filesOfQuietFolders } from '../quiet-folder.ts';

const imported = 'https://cdn.example.com/one.mp4';
const written = new Date('2026-01-02');
const other = 'https://cdn.example.com/two.mp4';

const local = filesOfQuietFolders();

async function folderWithLink(afterReady: AfterReady) {
  const scratch = await scratchDirectory();
  const link = scratch.file('clip.url');
  writeFileSync(link, `[InternetShortcut]\nURL=${imported}\n`);
  utimesSync(link, written, written);
  const version = versionOf(lstatSync(link, { bigint: true }));
  const facts = someFacts({
    folder: scratch.path,
    path: 'clip.url',
    version,
    sourceUrl: imported,
    sha256: null,
    afterReady,
  });
  const put = () => local.dispose(facts, new AbortController().signal, true);
  return { scratch, link, facts, put, [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose]() };
}

const ways: readonly AfterReady[] = [{ kind: 'delete' }, { kind: 'move', to: 'done' }];

test.each(ways)('a link that was imported goes: %j', async (afterReady) => {
  await using there = await folderWithLink(afterReady);
  expect(await there.put()).toMatchObject({ ok: true });
  expect(existsSync(there.link)).toBe(false);
});

test.each(ways)('a link with another address, written in place with its old times, stays: %j', async (afterReady) => {
  await using there = await folderWithLink(afterReady);
  writeFileSync(there.link, `[InternetShortcut]\nURL=${other}\n`);
  utimesSync(there.link, written, written);
  expect(await there.put()).toMatchObject({ ok: false, failure: { kind: 'changed' } });
  expect(readFileSync(there.link, 'utf8')).toContain(other);
});

test('a copy of a link on another file system, left by a crash before its original went, is not made twice', async () => {
  await using there = await folderWithLink({ kind: 'move', to: 'done' });
  const own = there.scratch.file(`.dropcast-${there.facts.id}`);
  mkdirSync(own);
  mkdirSync(there.scratch.file('done'));
  writeFileSync(there.scratch.file('done/clip.url'), readFileSync(there.link));
  renameSync(there.link, `${own}/clip.url`);
  expect(await there.put()).toMatchObject({ ok: true, value: { path: 'done/clip.url' } });
  expect(readdirSync(there.scratch.path, { recursive: true, encoding: 'utf8' }).toSorted()).toEqual([
    'done',
    'done/clip.url',
  ]);
});

test('a copy of a link on another file system, left by a crash after its original went, is known', async () => {
  await using there = await folderWithLink({ kind: 'move', to: 'done' });
  mkdirSync(there.scratch.file('done'));
  writeFileSync(there.scratch.file('done/clip.url'), readFileSync(there.link));
  rmSync(there.link);
  expect(await there.put()).toMatchObject({ ok: true, value: { path: 'done/clip.url' } });
});
