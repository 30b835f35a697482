import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checksumFileKind, checksumsFor, isChecksumOf } from '../../src/routing/checksum-file.ts';
import type { HashName } from '../../src/routing/checksum-file.ts';
import { parseMediaHashList } from '../../src/routing/media-hash-list.ts';

const of = (hash: HashName, content = 'content'): string => createHash(hash).update(content).digest('hex');
const [md5, sha1, sha256, sha512] = [of('md5'), of('sha1'), of('sha256'), of('sha512')];

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
  test.each<[string, string, string, string[]]>([
    ['as sha256sum writes it', 'clip.mp4.sha256', `${sha256}  clip.mp4\n`, [sha256]],
    ['of a binary file', 'clip.sha256', `${sha256} *clip.mp4\r\n`, [sha256]],
    ['with its directory', 'clip.md5', `${md5}  /Volumes/CARD/clip.mp4\n`, [md5]],
    ['with a directory of Windows', 'clip.md5', `${md5.toUpperCase()} *D:\\card\\clip.mp4`, [md5]],
    ['as BSD writes it', 'clip.mp4.sha1', `SHA1 (clip.mp4) = ${sha1}\n`, [sha1]],
    ['as openssl writes it', 'clip.mp4.sha512', `SHA512(clip.mp4)= ${sha512}\n`, [sha512]],
    ['alone', 'clip.mp4.md5', md5, [md5]],
    ['read from a pipe', 'clip.md5', `${md5}  -\n`, [md5]],
    ['of what it was called before', 'clip.mp4.md5', `${md5}  upload.tmp\n`, [md5]],
    ['is not that of another file', 'clip.md5', `${md5}  clip.mov\n`, []],
    ['in a list', 'SHA256SUMS', `${of('sha256', 'x')}  a.mp4\n${sha256}  ./clip.mp4\n`, [sha256]],
    [
      'is not that of a file of the same name in another directory',
      'SHA256SUMS',
      `${of('sha256', 'x')}  day1/clip.mp4\n${sha256}  clip.mp4\n${of('sha256', 'y')}  day2/clip.mp4\n`,
      [sha256],
    ],
    ['is not the only one of a list', 'SHA256SUMS', `${sha256}\n`, []],
    ['of several files in one', 'clip.md5', `${of('md5', 'x')}  clip.mov\n${md5}  clip.mp4\n`, [md5]],
    ['is not one of another length', 'clip.mp4.md5', sha1, []],
    ['is not text', 'clip.mp4.md5', 'see the website', []],
    ['is not there yet', 'clip.mp4.md5', '', []],
  ])('%s: %s', (_what, name, text, expected) => {
    expect(checksumsFor('clip.mp4', name, text).map(({ digest }) => digest)).toEqual(expected);
  });

  test('is read from anything without an error, in a time that grows with its length', () => {
    fc.assert(fc.property(fc.string(), (text) => checksumsFor('clip.mp4', 'clip.mp4.md5', text).length <= 1));
    expect(checksumsFor('clip.mp4', 'clip.md5', 'SHA256 ('.repeat(200_000))).toEqual([]);
    expect(checksumsFor('clip.mp4', 'clip.md5', `${md5}${' '.repeat(200_000)}`)).toMatchObject([{ digest: md5 }]);
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
    expect(parseMediaHashList(version1)).toEqual([
      { name: 'DAY1/A&B — 1.mov', algorithm: 'md5', digest: md5 },
      { name: 'clip.mp4', algorithm: 'sha1', digest: sha1 },
    ]);
  });

  test('of version 2 has them too, but not what its writer found wrong', () => {
    expect(parseMediaHashList(version2)).toEqual([{ name: 'DAY1/clip.mp4', algorithm: 'md5', digest: md5 }]);
  });

  test.each([
    ['of something else', '<plist></plist>'],
    ['with entities of its own', version1.replace('<hashlist', '<!DOCTYPE x [<!ENTITY a "b">]><hashlist')],
    ['in a comment', version2.replace('<hashes>', '<!--').replace('</hashes>', '-->')],
    ['in a comment without an end', version2.replace('<hashes>', '<!--')],
    ['that breaks off', version2.slice(0, 500)],
    ['with a digest that is none', version1.replaceAll(md5, '&md5;').replaceAll(sha1.toUpperCase(), `${sha1}0`)],
  ])('%s has none', (_what, text) => {
    expect(parseMediaHashList(text)).toEqual([]);
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
    fc.assert(fc.property(fc.array(pieces), (some) => Array.isArray(parseMediaHashList(some.join('')))));
    for (const piece of ['<hash>', '<hash ', '<hash><file>', '<hash><md5 ', '&#', '<!--'])
      expect(parseMediaHashList(`<hashlist>${piece.repeat(100_000)}`)).toEqual([]);
  });
});
