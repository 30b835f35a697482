import { createHash, randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hashAccepted, uploadSource } from '../../src/disk/accepted-file.ts';
import { KeptLists, ChecksumReader } from '../../src/disk/checksums/read-checksums.ts';
import { UnreadableChecksumError, checksumFailure, readList } from '../../src/disk/checksums/read-list.ts';
import { requireWatched } from '../../src/disk/held-directory.ts';
import { versionOf } from '../../src/pipeline/file/file-version.ts';
import { ChecksumLines } from '../../src/routing/checksum-lines.ts';
import { startHost, takeAll } from '../client/upload-host.ts';
import { openDaemonClient } from '../client/daemon-client.ts';
import { asNobody } from '../support/as-nobody.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { filesOfQuietFolders } from './quiet-folder.ts';

const isWatched = (): boolean => true;

const of = (hash: string, content: Buffer | string): string => createHash(hash).update(content).digest('hex');
const md5 = of('md5', 'content');
const sha256 = of('sha256', 'content');
const listOf = (path: string): string => `<hashlist><hash><file>${path}</file><md5>${md5}</md5></hash></hashlist>`;

/** How tools on Windows write the SHA-256 of `clip.mp4`. */
const windowsForms: readonly (readonly [what: string, text: string])[] = [
  ['certutil', `SHA256 hash of clip.mp4:\r\n${sha256}\r\nCertUtil: -hashfile command completed successfully.\r\n`],
  [
    'certutil of Windows 7',
    `SHA256 hash of file clip.mp4:\r\n${sha256.replaceAll(/..(?!$)/gu, '$& ')}\r\nCertUtil: -hashfile command completed successfully.\r\n`,
  ],
  ['certutil in German', `SHA256-Hash von clip.mp4:\r\n${sha256}\r\n`],
  [
    'Get-FileHash',
    `\r\nAlgorithm       Hash                                                                   Path\r\n---------       ----                                                                   ----\r\nSHA256          ${sha256.toUpperCase()}       C:\\Users\\me\\Video clips\\clip.mp4\r\n\r\n`,
  ],
  [
    'Get-FileHash | Format-List',
    `\r\n\r\nAlgorithm : SHA256\r\nHash      : ${sha256.toUpperCase()}\r\nPath      : C:\\Users\\me\\clip.mp4\r\n\r\n`,
  ],
  [
    'Get-FileHash | Format-List in a narrow window',
    `Algorithm : SHA256\r\nHash      : ${sha256.slice(0, 40)}\r\n            ${sha256.slice(40)}\r\nPath      : C:\\Users\\me\\a long\r\n            way\\clip.mp4\r\n`,
  ],
  [
    'Export-Csv',
    `#TYPE Microsoft.PowerShell.Commands.FileHashInfo\r\n"Algorithm","Hash","Path"\r\n"SHA256","${sha256.toUpperCase()}","C:\\clip.mp4"\r\n`,
  ],
  ['Export-Csv in German', `"Algorithm";"Hash";"Path"\r\n"SHA256";"${sha256}";"C:\\clip.mp4"\r\n`],
  [
    'ConvertTo-Json',
    `{\r\n    "Algorithm":  "SHA256",\r\n    "Hash":  "${sha256}",\r\n    "Path":  "C:\\\\clip.mp4"\r\n}\r\n`,
  ],
  ['7z h', `\nSHA256 ${' '.repeat(57)} Size  Name\n${'-'.repeat(64)} ---- ----\n${sha256}            7  clip.mp4\n`],
  ['openssl 3', `SHA2-256(clip.mp4)= ${sha256}\n`],
  ['a name in the current directory', `${sha256} *.\\clip.mp4\r\n`],
];

/** What is found for `DAY1/clip.mp4` with these other files in the folder. */
async function found(files: Readonly<Record<string, string | Buffer>>): Promise<unknown[]> {
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

  test.each(windowsForms)('as %s writes it, next to the file and in a list', async (_what, text) => {
    for (const path of ['DAY1/clip.mp4.sha256', 'DAY1/clip.sha256', 'DAY1/SHA256SUMS.txt'])
      for (const bytes of [text, Buffer.from(text, 'utf16le'), Buffer.from(`\uFEFF${text}`, 'utf16le')])
        expect(await found({ [path]: bytes })).toEqual([['sha256', sha256, path, path.endsWith('.sha256')]]);
  });

  test.each([
    ['Gro\u0308\u00DFe.mp4', 'Gr\u00F6\u00DFe.mp4'],
    ['Gr\u00F6\u00DFe.mp4', 'Gro\u0308\u00DFe.mp4'],
  ])('of %j under the name %j, which looks the same', async (video, other) => {
    for (const [name, text] of [
      [`${other}.md5`, `${md5}  ${other}`],
      ['MD5SUMS', `${md5}  ${other}\n`],
      ['card.mhl', listOf(other)],
    ] as const) {
      await using folder = await scratchDirectory();
      await folder.write(video, 'content');
      await folder.write(name, text);
      expect(await new ChecksumReader().checksumsOf({ folder: folder.path, path: video })).toMatchObject({
        value: [{ algorithm: 'md5', digest: md5 }],
      });
    }
  });

  test.each([
    ['of another file', { 'DAY1/other.md5': md5 }],
    ['in another directory', { 'DAY2/clip.md5': md5, 'clip.md5': md5, 'DAY2/x.mhl': listOf('clip.mp4') }],
    ['of the file of that name with another extension', { 'DAY1/clip.md5': `${md5}  clip.mov` }],
    ['in a list that has other files', { 'DAY1/SHA256SUMS': `${sha256}  other.mp4\n`, 'x.mhl': listOf('clip.mp4') }],
    ['in a list without any', { 'DAY1/SHA256SUMS': '' }],
    [
      'of an algorithm that is not computed',
      {
        'x.mhl': '<hashlist><hash><file>DAY1/clip.mp4</file><xxhash64>0ea03b369a463d9d</xxhash64></hash></hashlist>',
        'DAY1/SHA512SUMS': `BLAKE2b (clip.mp4) = ${sha256}\n`,
      },
    ],
  ])('not in one %s', async (_what, files) => {
    expect(await found(files)).toEqual([]);
  });

  test.each<[string, string, string]>([
    ['DAY1/clip.md5', '', 'it has no checksum that dropcast can compute'],
    ['DAY1/clip.mp4.md5', 'see the website', 'it has no line with a checksum in a format that dropcast knows'],
    ['DAY1/clip.mp4.md5', of('sha1', 'content'), 'its entry for the file is not a valid MD5 digest'],
    ['DAY1/clip.mp4.sha256', `SHA384 (clip.mp4) = ${sha256}${md5}\n`, 'it has no checksum that dropcast can compute'],
    ['DAY1/clip.mp4.md5', `${md5}  a.mp4\n${md5}  b.mp4\n`, 'it has no line for this file'],
    ['DAY1/SHA256SUMS', 'see the website', 'it has no line with a checksum in a format that dropcast knows'],
    [
      'DAY1/SHA256SUMS',
      `${sha256}  a.mp4\n${sha256.slice(1)}  clip.mp4\n`,
      'its entry for the file is not a valid SHA256 digest',
    ],
    ['x.mhl', '<plist></plist>', 'it is not a Media Hash List (it has no <hashlist>)'],
    ['x.mhl', listOf('DAY1/clip.mp4').slice(0, -3), 'it ends before </hashlist>'],
    ['x.mhl', listOf('DAY1/clip.mp4').replace(md5, '&md5;'), 'its entry for the file is not a valid MD5 digest'],
    ['x.mhl', `<!DOCTYPE x [<!ENTITY a "b">]>${listOf('a')}`, 'it declares a DOCTYPE or entities'],
  ])('and one that is not understood is no missing one: %s with %s', async (path, text, why) => {
    await expect(found({ [path]: text })).rejects.toThrow(
      `the checksum file ${path} cannot be used: ${why}, so dropcast cannot tell whether the file is what its sender sent: ` +
        'correct it, or remove it; dropcast then continues',
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

describe('an unreadable checksum may be relevant', () => {
  const local = (whyAway: string | null = null) =>
    filesOfQuietFolders({
      whyAway: async () => whyAway,
      isWatched,
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
    const at = folder.file(closed);
    const isDirectory = closed === 'ascmhl';
    const ask = (whyAway: string | null) =>
      asNobody(() => local(whyAway).checksums({ folder: folder.path, path: 'DAY1/clip.mp4' }));
    expect(await ask(null)).toMatchObject({
      ok: false,
      failure: {
        kind: 'mismatch',
        code: 'checksum_unreadable',
        message:
          `the checksum file ${closed} cannot be read (EACCES), so dropcast cannot tell whether the file is what its sender sent: ` +
          `remove it, or let dropcast read it: user nobody may not ${isDirectory ? `open the directory ${at}` : 'read this file'} (EACCES); ` +
          `run \`sudo setfacl -m u:nobody:${isDirectory ? 'rx' : 'r'} -- '${at}'\`; dropcast then continues`,
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

describe('what a list may have is bounded', () => {
  const megabytes16 = 16 * 1024 * 1024;

  test.each<[string, string, () => string, string]>([
    ['bytes', 'DAY1/clip.md5', () => `${md5}${'\n'.repeat(megabytes16)}`, 'is larger than 16 MiB'],
    ['entries', 'DAY1/MD5SUMS', () => `${md5}  a.mp4\n`.repeat(100_001), 'has more than 100,000 entries'],
    ['lines', 'DAY1/MD5SUMS', () => 'a\n'.repeat(500_001), 'has more than 500,000 lines'],
    ['a line', 'DAY1/MD5SUMS', () => 'a'.repeat(8193), 'has a line of more than 8,192 characters'],
    ['a path', 'DAY1/MD5SUMS', () => `${md5}  ${'ü'.repeat(2049)}\n`, 'has a path of more than 4,096 bytes'],
    [
      'the digests of one file',
      'DAY1/MD5SUMS',
      () => Array.from({ length: 65 }, (_, i) => `${of('md5', String(i))}  a.mp4\n`).join(''),
      'has for one file more than 64 digests',
    ],
    [
      'hashes',
      'x.mhl',
      () => `<hashlist>${'<hash><file>a</file></hash>'.repeat(100_001)}`,
      'has more than 100,000 entries',
    ],
    [
      'an element',
      'x.mhl',
      () => `<hashlist><hash><file>${'&#x41;'.repeat(2_795_900)}</file><md5>${md5}</md5></hash></hashlist>`,
      'has an element of more than 16,384 characters',
    ],
    [
      'a tag',
      'x.mhl',
      () => `<hashlist><hash ${'a'.repeat(megabytes16 - 100)}`,
      'has an element of more than 16,384 characters',
    ],
    ['the path of a hash', 'x.mhl', () => listOf('a'.repeat(4097)), 'has a path of more than 4,096 bytes'],
  ])('%s', async (_what, path, text, why) => {
    await expect(found({ [path]: text() })).rejects.toThrow(`the checksum file ${path} cannot be used: it ${why}`);
  });

  test('no list is left out in silence where there are too many', async () => {
    const lists = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`ascmhl/${n}.mhl`, listOf('DAY1/other.mp4')]));
    expect(await found(lists(64))).toEqual([]);
    await expect(found(lists(65))).rejects.toThrow('there are more than 64 Media Hash Lists in one directory');
  });

  test('lists at their bounds are read', async () => {
    const filler = Array.from({ length: 99_999 }, (_, i) => `${md5}  A001_C${i}.mov\n`).join('');
    expect(await found({ 'DAY1/MD5SUMS': `${filler}${md5}  clip.mp4\n` })).toEqual([
      ['md5', md5, 'DAY1/MD5SUMS', false],
    ]);
    const hashes = '<hash><file>a.mov</file><sha1>-</sha1></hash>'.repeat(99_999);
    const list = listOf('DAY1/clip.mp4').replace('<hash>', `${hashes}<hash>`);
    expect(await found({ 'x.mhl': list })).toEqual([['md5', md5, 'x.mhl', false]]);
    expect(await found({ 'DAY1/SHA256SUMS': '\n'.repeat(megabytes16 - 1) })).toEqual([]);
  });

  test('other work has its turn after each piece of 16 KiB', async () => {
    await using folder = await scratchDirectory();
    const path = 'SHA256SUMS';
    await folder.write(path, `${sha256}  A001.mov\n`.repeat(50_000));
    const pieces: number[] = [];
    const turnsAt: number[] = [];
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      immediate = setImmediate(turn);
    };
    let immediate = setImmediate(turn);
    await readList(
      { folder: folder.path, path },
      { read: (piece) => void (pieces.push(piece.length), turnsAt.push(turns)), end: () => undefined },
    );
    clearImmediate(immediate);
    expect(pieces.length).toBeGreaterThan(100);
    expect(Math.max(...pieces)).toBeLessThanOrEqual(16 * 1024);
    // The last call is the rest of the decoder, and comes with the last piece.
    expect(new Set(turnsAt).size).toBeGreaterThanOrEqual(pieces.length - 1);
  });
});

test('lists are read once for all files that ask, however many lists there are', async () => {
  await using folder = await scratchDirectory();
  let opened = 0;
  const lists = new KeptLists((_, index) => {
    const lines = new ChecksumLines('SHA256SUMS', (line) => index.add(line.name ?? '', line));
    return { read: (piece) => ((opened += 1), lines.read(piece)), end: () => lines.end() };
  });
  const paths = Array.from({ length: 30 }, (_, index) => `${index}.txt`);
  for (const path of paths) await folder.write(path, `${sha256}  clip.mp4\n`);
  const ask = () => Promise.all(paths.map((path) => lists.checksumsFor('clip.mp4', { folder: folder.path, path })));
  for (const found of [...(await ask()), ...(await ask()), ...(await Promise.all([ask(), ask()])).flat()])
    expect(found).toMatchObject([{ digest: sha256 }]);
  // The text and its end.
  expect(opened).toBe(2 * 30);
  await folder.write('7.txt', `${sha256}  another.mp4\n`);
  expect((await ask())[7]).toEqual([]);
  expect(opened).toBe(2 * 31);
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
