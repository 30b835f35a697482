import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UnusableListError, checksumFileKind, isChecksumOf } from '../../src/routing/checksum-file.ts';
import type { HashName, ListReader } from '../../src/routing/checksum-file.ts';
import { ChecksumLines } from '../../src/routing/checksum-lines.ts';
import { MediaHashList } from '../../src/routing/media-hash-list.ts';
import type { ListedHash } from '../../src/routing/media-hash-list.ts';
import { OwnChecksums } from '../../src/routing/digest-index.ts';

const of = (hash: HashName, content = 'content'): string => createHash(hash).update(content).digest('hex');
const [md5, sha1, sha256, sha512] = [of('md5'), of('sha1'), of('sha256'), of('sha512')];

/** In pieces of this many characters; null: it is unusable. */
function readIn(text: string, size: number, reader: ListReader): boolean {
  try {
    for (let at = 0; at < text.length; at += size) reader.read(text.slice(at, at + size));
    reader.end();
    return true;
  } catch (error) {
    if (error instanceof UnusableListError) return false;
    throw error;
  }
}

function checksumsFor(videoName: string, checksumName: string, text: string, size = 32_768): unknown {
  const own = new OwnChecksums(videoName, checksumName);
  if (!readIn(text, size, new ChecksumLines(checksumName, (line) => own.add(line)))) return 'unusable';
  try {
    return own.found().map(({ digest }) => digest);
  } catch {
    return 'unusable';
  }
}

function parseMediaHashList(text: string, size = 32_768): readonly ListedHash[] | 'unusable' {
  const found: ListedHash[] = [];
  return readIn(text, size, new MediaHashList((hash) => found.push(hash))) ? found : 'unusable';
}

test.each([
  ['clip.mp4.sha256', 'one'],
  ['clip.MD5', 'one'],
  ['clip.sha512', 'one'],
  ['SHA256SUMS', 'many'],
  ['md5sums.txt', 'many'],
  ['A001_2026-03-01.mhl', 'mhl'],
  ['clip.mp4', null],
  ['sha256', null],
])('%s is a checksum file of the kind %s', (name, kind) => {
  expect(checksumFileKind(name)).toBe(kind);
});

test.each([
  ['clip.mp4.sha256', true],
  ['clip.sha256', true],
  ['clip.mov.sha256', false],
  ['other.md5', false],
  ['SHA256SUMS', false],
])('%s is about clip.mp4 alone: %s', (name, expected) => {
  expect(isChecksumOf(name, 'clip.mp4')).toBe(expected);
});

describe('the checksum of clip.mp4', () => {
  test.each<[string, string, string, string[] | 'unusable']>([
    ['as sha256sum writes it', 'clip.mp4.sha256', `${sha256}  clip.mp4\n`, [sha256]],
    ['of a binary file', 'clip.sha256', `${sha256} *clip.mp4\r\n`, [sha256]],
    ['with its directory', 'clip.md5', `${md5}  /Volumes/CARD/clip.mp4\n`, [md5]],
    ['with a directory of Windows', 'clip.md5', `${md5.toUpperCase()} *D:\\card\\clip.mp4`, [md5]],
    ['as BSD writes it', 'clip.mp4.sha1', `SHA1 (clip.mp4) = ${sha1}\n`, [sha1]],
    ['as openssl writes it', 'clip.mp4.sha512', `SHA512(clip.mp4)= ${sha512}\n`, [sha512]],
    ['alone', 'clip.mp4.md5', md5, [md5]],
    ['read from a pipe', 'clip.md5', `${md5}  -\n`, [md5]],
    ['of what it was called before', 'clip.mp4.md5', `${md5}  upload.tmp\n`, [md5]],
    ['with a comment', 'clip.mp4.md5', `; made by a tool\n${md5} *clip.mp4\n`, [md5]],
    [
      'after the name of the algorithm',
      'clip.mp4.sha256',
      `clip.mp4\nMD5: ${md5}\nSHA-256: ${sha256}\n`,
      [md5, sha256],
    ],
    [
      'as Get-FileHash writes it where the path does not fit',
      'clip.sha256',
      `Algorithm  Hash  Path\n---------  ----  ----\nSHA256     ${sha256}  C:\\Users\\som...\n`,
      [sha256],
    ],
    ['is not that of another file', 'clip.md5', `${md5}  clip.mov\n`, []],
    ['of several files in one', 'clip.md5', `${of('md5', 'x')}  clip.mov\n${md5}  clip.mp4\n`, [md5]],
    [
      'is not that of a file of the same name in another directory',
      'clip.sha256',
      `${of('sha256', 'x')}  day1/clip.mp4\n${sha256}  clip.mp4\n${of('sha256', 'y')}  day2/clip.mp4\n`,
      [sha256],
    ],
    ['is not one of another length', 'clip.mp4.md5', sha1, 'unusable'],
    ['is not text', 'clip.mp4.md5', 'see the website', 'unusable'],
    ['is not in base64', 'clip.mp4.md5', `${Buffer.from(md5, 'hex').toString('base64')}\n`, 'unusable'],
    ['is not there yet', 'clip.mp4.md5', '', 'unusable'],
  ])('%s', (_what, name, text, expected) => {
    for (const size of [1, 7, 32_768]) expect(checksumsFor('clip.mp4', name, text, size)).toEqual(expected);
  });

  test('of a name with a backslash or a line break is found, as sha256sum escapes it', () => {
    const text = `\\${sha256}  a\\\\b\\n.mp4\n`;
    expect(checksumsFor('b\n.mp4', 'b\n.sha256', text)).toEqual([sha256]);
  });

  test('is read from anything without an error, in a time that grows with its length', () => {
    fc.assert(fc.property(fc.string(), (text) => checksumsFor('clip.mp4', 'clip.mp4.md5', text) !== null));
    for (const piece of ['SHA256 (', ') = ', '"a",', 'a:', `${md5} `])
      checksumsFor('clip.mp4', 'clip.md5', piece.repeat(8000 / piece.length).padEnd(8192));
    expect(checksumsFor('clip.mp4', 'clip.md5', `${md5}${' '.repeat(8000)}`)).toEqual([md5]);
  });
});

const version1 = `<?xml version="1.0" encoding="UTF-8"?>
<hashlist version="1.1">
  <creatorinfo><name>DIT</name></creatorinfo>
  <hash><file>DAY1/A&amp;B &#x2014; 1.mov</file><size>7</size><xxhash64be>0123456789abcdef</xxhash64be><md5>${md5}</md5></hash>
  <hash><file>clip.mp4</file><sha1>${sha1.toUpperCase()}</sha1><hashdate>2026-03-01T10:00:00Z</hashdate></hash>
</hashlist>`;

const version2 = `<?xml version="1.0" encoding="UTF-8"?>
<hashlist version="2.0" xmlns="urn:ASC:MHL:v2.0">
  <processinfo><process>in-place</process><roothash><content><md5>${of('md5', 'root')}</md5></content></roothash></processinfo>
  <hashes>
    <hash>
      <path size="7" lastmodificationdate="2026-03-01T10:00:00+01:00">DAY1/clip.mp4</path>
      <md5 action="original" hashdate="2026-03-01T10:00:00+01:00">${md5}</md5>
      <xxh64 action="original">0ea03b369a463d9d</xxh64>
    </hash>
    <hash><path size="7">DAY1/bad.mp4</path><md5 action="failed">${md5}</md5></hash>
    <directoryhash><path>DAY1</path><content><md5>${md5}</md5></content></directoryhash>
  </hashes>
</hashlist>`;

describe('a Media Hash List', () => {
  test('of version 1 has the digests of its files that can be computed', () => {
    for (const size of [1, 7, 32_768])
      expect(parseMediaHashList(version1, size)).toEqual([
        { name: 'DAY1/A&B — 1.mov', algorithm: 'md5', digest: md5 },
        { name: 'clip.mp4', algorithm: 'sha1', digest: sha1 },
      ]);
  });

  test('of version 2 has them too, but not what its writer found wrong', () => {
    for (const size of [1, 7, 32_768])
      expect(parseMediaHashList(version2, size)).toEqual([{ name: 'DAY1/clip.mp4', algorithm: 'md5', digest: md5 }]);
  });

  test('says nothing in a comment', () => {
    const text = version2.replace('<hashes>', '<!--').replace('</hashes>', '-->');
    for (const size of [1, 7, 32_768]) expect(parseMediaHashList(text, size)).toEqual([]);
  });

  test('with something else in the place of a digest names the file, without one', () => {
    for (const other of ['&md5;', `${md5}0`, '', `<![CDATA[${md5}]]>`])
      expect(parseMediaHashList(version1.replace(`<md5>${md5}`, `<md5>${other}`))).toMatchObject([
        { name: 'DAY1/A&B — 1.mov', algorithm: 'md5', digest: null },
        { digest: sha1 },
      ]);
  });

  test.each([
    ['of something else', '<plist></plist>'],
    ['of nothing', ''],
    ['with entities of its own', version1.replace('<hashlist', '<!DOCTYPE x [<!ENTITY a "b">]><hashlist')],
    ['in a comment without an end', version2.replace('<hashes>', '<!--')],
    ['that breaks off', version2.slice(0, 500)],
    ['that breaks off between two files', version1.replace('</hashlist>', '')],
    ['with a path that is not text', version1.replace('<file>clip.mp4', '<file><![CDATA[clip.mp4]]>')],
  ])('%s is unusable', (_what, text) => {
    for (const size of [1, 7, 32_768]) expect(parseMediaHashList(text, size)).toBe('unusable');
  });

  test('of any content is read without an error, in a time that grows with its length', () => {
    const pieces = fc.constantFrom(
      '<hashlist>',
      '<hash>',
      '</hash>',
      '<file>',
      '</file>',
      '<md5 ',
      '>',
      md5,
      '&#x110000;',
      'a',
    );
    fc.assert(
      fc.property(fc.array(pieces), fc.integer({ min: 1, max: 20 }), (some, size) => {
        expect(parseMediaHashList(some.join(''), size)).toEqual(parseMediaHashList(some.join('')));
      }),
    );
    for (const piece of ['<', '<a>', '<hash>', '<hash ', '<hash><file>', '<hash><md5 ', '&#', '<!--', '<!---->'])
      expect(parseMediaHashList(`<hashlist>${piece.repeat(100_000)}`)).toBe('unusable');
  });
});
