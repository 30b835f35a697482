import { createHash, randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hashAccepted, uploadSource } from '../../src/disk/accepted-file.ts';
import { KeptLists } from '../../src/disk/checksums/kept-lists.ts';
import { UnreadableChecksumError, checksumFailure } from '../../src/disk/checksums/unreadable-checksum.ts';
import { ChecksumReader } from '../../src/disk/checksums/read-checksums.ts';
import { createLocalFiles } from '../../src/disk/local-files.ts';
import { requireWatched } from '../../src/disk/watched-file.ts';
import { versionOf } from '../../src/pipeline/file/file-version.ts';
import { parseChecksums } from '../../src/routing/checksum-file.ts';
import { startHost, takeAll } from '../client/upload-host.ts';
import { openDaemonClient } from '../client/daemon-client.ts';
import { asNobody } from '../support/as-nobody.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

const isWatched = (): boolean => true;

const of = (hash: string, content: Buffer | string): string => createHash(hash).update(content).digest('hex');
const md5 = of('md5', 'content');
const sha256 = of('sha256', 'content');
const listOf = (path: string): string => `<hashlist><hash><file>${path}</file><md5>${md5}</md5></hash></hashlist>`;

/** What is found for `DAY1/clip.mp4` with these other files in the folder. */
async function found(files: Readonly<Record<string, string>>): Promise<unknown[]> {
  await using folder = await scratchDirectory();
  for (const [path, text] of Object.entries({ 'DAY1/clip.mp4': 'content', ...files })) {
    await mkdir(dirname(folder.file(path)), { recursive: true });
    await writeFile(folder.file(path), text);
  }
  const checksums = await new ChecksumReader().checksumsOf({ folder: folder.path, path: 'DAY1/clip.mp4' });
  if (!checksums.ok) throw new Error(checksums.failure.message);
  return checksums.value.map(({ algorithm, digest, from, goesWithIt }) => [algorithm, digest, from.path, goesWithIt]);
}

describe('the sender says what a file is', () => {
  test.each([
    ['DAY1/clip.mp4.sha256', `${sha256}  clip.mp4\n`, ['sha256', sha256, 'DAY1/clip.mp4.sha256', true]],
    ['DAY1/clip.md5', md5, ['md5', md5, 'DAY1/clip.md5', true]],
    ['DAY1/clip.mp4.md5', `\uFEFF${md5} *clip.mp4`, ['md5', md5, 'DAY1/clip.mp4.md5', true]],
    ['DAY1/SHA256SUMS', `${sha256}  clip.mp4\n`, ['sha256', sha256, 'DAY1/SHA256SUMS', false]],
    ['DAY1/card.mhl', listOf('clip.mp4'), ['md5', md5, 'DAY1/card.mhl', false]],
    ['card.mhl', listOf('DAY1/clip.mp4'), ['md5', md5, 'card.mhl', false]],
    ['ascmhl/0001_x.mhl', listOf('DAY1/clip.mp4'), ['md5', md5, 'ascmhl/0001_x.mhl', false]],
    ['DAY1/ascmhl/0001_x.mhl', listOf('clip.mp4'), ['md5', md5, 'DAY1/ascmhl/0001_x.mhl', false]],
  ])('in %s', async (path, text, expected) => {
    expect(await found({ [path]: text })).toEqual([expected]);
  });

  test.each([
    ['of another file', { 'DAY1/other.md5': md5 }],
    ['in another directory', { 'DAY2/clip.md5': md5, 'clip.md5': md5, 'DAY2/x.mhl': listOf('clip.mp4') }],
    ['of a name alone', { 'DAY1/clip.md5': '' }],
  ])('not in one %s', async (_what, files) => {
    expect(await found(files)).toEqual([]);
  });

  test('and nobody knows what in one that is too large', async () => {
    const text = md5 + ' '.repeat(17 * 1024 * 1024);
    await expect(found({ 'DAY1/clip.md5': text })).rejects.toThrow(
      'DAY1/clip.md5 cannot be read (larger than 16 MiB), so nobody knows',
    );
  });

  test('not through a link', async () => {
    await using folder = await scratchDirectory();
    await folder.write('secret', md5);
    await folder.write('clip.mp4', 'content');
    await symlink(folder.file('secret'), folder.file('clip.mp4.md5'));
    expect(await new ChecksumReader().checksumsOf({ folder: folder.path, path: 'clip.mp4' })).toEqual({
      ok: true,
      value: [],
    });
  });

  test('and a list that changes is read again', async () => {
    await using folder = await scratchDirectory();
    await folder.write('clip.mp4', 'content');
    const reader = new ChecksumReader();
    await folder.write('card.mhl', listOf('other.mp4'));
    expect(await reader.checksumsOf({ folder: folder.path, path: 'clip.mp4' })).toEqual({ ok: true, value: [] });
    await folder.write('card.mhl', listOf('clip.mp4'));
    const twice = [1, 2].map(() => reader.checksumsOf({ folder: folder.path, path: 'clip.mp4' }));
    for (const checksums of await Promise.all(twice)) expect(checksums).toMatchObject({ value: [{ digest: md5 }] });
  });
});

describe('what nobody can read may say something', () => {
  const local = (whyAway: string | null = null) =>
    createLocalFiles({
      whyAway: async () => whyAway,
      writerOf: async () => null,
      isSidecarUsed: async () => false,
      isWatched,
      service: null,
    });

  test.each([
    ['the checksum of the file', 'DAY1/clip.mp4.md5', md5, 'DAY1/clip.mp4.md5'],
    ['a list beside it', 'DAY1/SHA256SUMS', '', 'DAY1/SHA256SUMS'],
    ['a Media Hash List above it', 'card.mhl', listOf('DAY1/clip.mp4'), 'card.mhl'],
    ['the directory of a history', 'ascmhl/0001_x.mhl', listOf('DAY1/clip.mp4'), 'ascmhl'],
  ])('%s', async (_what, path, text, closed) => {
    await using folder = await scratchDirectory();
    for (const directory of ['DAY1', 'ascmhl']) await mkdir(folder.file(directory));
    await folder.write('DAY1/clip.mp4', 'content');
    await folder.write(path, text);
    await chmod(folder.path, 0o755);
    await chmod(folder.file(closed), 0o000);
    const ask = (whyAway: string | null) =>
      asNobody(() => local(whyAway).checksums({ folder: folder.path, path: 'DAY1/clip.mp4' }));
    expect(await ask(null)).toMatchObject({
      ok: false,
      failure: {
        kind: 'mismatch',
        code: 'checksum_unreadable',
        message:
          `the checksum file ${closed} cannot be read (EACCES), so nobody knows whether the file is what its sender sent: ` +
          'give the user that dropcast runs as read access to it, or remove it; dropcast then continues',
      },
    });
    expect(await ask('not mounted')).toMatchObject({ ok: false, failure: { kind: 'suspended' } });
    await chmod(folder.file(closed), 0o755);
    expect(await ask(null)).toMatchObject({ ok: true });
  });

  test.each([
    ['EIO', 'mismatch', 'checksum_unreadable'],
    ['ESTALE', 'mismatch', 'checksum_unreadable'],
    ['EMFILE', 'suspended', 'EMFILE'],
    ['ENOMEM', 'suspended', 'ENOMEM'],
  ])('%s: %s', (code, kind, failureCode) => {
    const error = Object.assign(new Error(`${code}: read`), { code, syscall: 'read' });
    expect(checksumFailure(new UnreadableChecksumError('clip.md5', error))).toMatchObject({ kind, code: failureCode });
  });
});

test('lists are taken apart once for all files that ask, however many lists there are', async () => {
  await using folder = await scratchDirectory();
  let parsed = 0;
  const lists = new KeptLists({
    parse: (text) => {
      parsed += 1;
      return parseChecksums(text, 'SHA256SUMS');
    },
    keyOf: (name) => name,
  });
  const paths = Array.from({ length: 30 }, (_, index) => `${index}.txt`);
  for (const path of paths) await folder.write(path, `${sha256}  clip.mp4\n`);
  const ask = () => Promise.all(paths.map((path) => lists.linesOf(folder.path, path)));
  for (const found of [...(await ask()), ...(await ask()), ...(await Promise.all([ask(), ask()])).flat()])
    expect(found.get('clip.mp4')).toMatchObject([{ digest: sha256 }]);
  expect(parsed).toBe(30);
  await folder.write('7.txt', `${sha256}  another.mp4\n`);
  expect((await ask())[7]?.has('clip.mp4')).toBe(false);
  expect(parsed).toBe(31);
});

test.each([0, 1, 1024 * 1024, 2_500_001])(
  'an upload of %i bytes computes what was asked for on its way',
  async (bytes) => {
    await using folder = await scratchDirectory();
    const content = randomBytes(bytes);
    const path = await folder.write('clip.mp4', content);
    const file = { folder: folder.path, path: 'clip.mp4', version: versionOf(await lstat(path, { bigint: true })) };
    const source = uploadSource(file, isWatched, ['md5', 'sha512']);
    const expected = { md5: of('md5', content), sha512: of('sha512', content) };
    await using host = await startHost(takeAll());
    await using opened = openDaemonClient('http://127.0.0.1:1/v1');
    await opened.send(source, `${host.origin}/u`);
    expect(source.digests()).toEqual(bytes === 0 ? {} : expected);
    const { signal } = new AbortController();
    expect(await hashAccepted(requireWatched(file, isWatched), signal, 'md5')).toBe(expected.md5);
  },
);

test('of a file that was read out of order, or not to its end, nothing is known', async () => {
  await using folder = await scratchDirectory();
  const path = await folder.write('clip.mp4', 'content');
  const file = { folder: folder.path, path: 'clip.mp4', version: versionOf(await lstat(path, { bigint: true })) };
  const { signal } = new AbortController();
  const source = uploadSource(file, isWatched, ['md5']);
  for (const [positions, isKnown] of [
    [[0, 1, 2, 3, 4, 5, 6], true],
    [[0, 1, 2], false],
    [[0, 1, 3, 4, 5, 6], false],
    [[0, 1, 0, 1, 2, 3, 4, 5, 6], true],
  ] as const) {
    await using reader = await source.openReader();
    for (const position of positions) await reader.read(position, Buffer.alloc(1), signal);
    expect(source.digests()).toEqual(isKnown ? { md5 } : {});
  }
});
