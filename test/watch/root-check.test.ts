import { describe, expect, test } from 'vitest';
import { whyAnother, whyRefused } from '../../src/watch/root-check.ts';
import type { FoundRoot, RootIdentity, RootProofs } from '../../src/watch/root-check.ts';

const ext4 = String(0xef53);
const nfs = String(0x6969);
const sinceMs = 1_700_000_000_000;
const bornBefore = String(BigInt(sinceMs - 5_000) * 1_000_000n);
const bornAfter = String(BigInt(sinceMs + 5_000) * 1_000_000n);

const share: RootIdentity = {
  device: '50',
  inode: '128',
  born: bornBefore,
  kind: ext4,
  mount: '/srv/share',
  isMountPoint: false,
  isBound: false,
  mark: 'ours',
  since: sinceMs,
};
/** What lies at the path while nothing is mounted: older than the share, or not. */
const under: FoundRoot = {
  device: '1',
  inode: '77',
  born: bornAfter,
  kind: ext4,
  mount: '/',
  isMountPoint: false,
  isBound: false,
  mark: null,
};
const plain: RootIdentity = { ...under, born: bornBefore, mark: 'ours', since: sinceMs };
const boundOver: FoundRoot = { ...plain, inode: '99', mark: null, isBound: true };
const { isBound: _isBound, ...ofOlderVersion } = plain;
const topOfDisk: RootIdentity = { ...share, inode: '2', born: '0', mount: '/srv/share/in', isMountPoint: true };

const nothing: RootProofs = { hasKnownFile: async () => false, knowsNothing: true };
const missing: RootProofs = { hasKnownFile: async () => false, knowsNothing: false };
const there: RootProofs = { hasKnownFile: async () => true, knowsNothing: false };

type Case = readonly [what: string, before: RootIdentity, found: FoundRoot, proofs: RootProofs, isIt: boolean];

const cases: readonly Case[] = [
  ['the same directory', share, share, missing, true],
  ['the same, with nothing known', share, share, nothing, true],
  ['the same, its mark deleted', share, { ...share, mark: null }, missing, true],
  ['remounted with a new number', share, { ...share, device: '51' }, missing, true],
  ['remounted with a new number, its mark deleted', share, { ...share, device: '51', mark: null }, missing, true],
  [
    'remounted with a new number and a new inode, with its mark',
    share,
    { ...share, device: '51', inode: '9' },
    nothing,
    true,
  ],
  ['unmounted, files known', share, under, missing, false],
  ['unmounted, nothing known', share, under, nothing, false],
  ['unmounted, what is below has a mark of ours of another day', share, { ...under, mark: 'other' }, nothing, false],
  ['unmounted, and the files lie there too', share, under, there, true],
  ['another disk, nothing known', share, { ...share, inode: '5', device: '60', mark: null }, nothing, false],
  ['another disk that got the same number', share, { ...share, inode: '5', mark: null }, missing, false],
  [
    'another share mounted over what was a plain directory, nothing known',
    plain,
    { ...share, mark: null },
    nothing,
    true,
  ],
  ['the same, with files known', plain, { ...share, mark: null }, missing, false],
  ['created again', plain, { ...plain, inode: '99', born: bornAfter, mark: null }, missing, true],
  ['a bind mount on the same disk taken away', plain, { ...plain, inode: '99', mark: null }, missing, false],
  ['a directory of the same disk bound over it, nothing known', plain, boundOver, nothing, true],
  ['a directory of the same disk bound over it, files known', plain, boundOver, missing, false],
  ['another directory bound where one was bound before', { ...plain, isBound: true }, boundOver, nothing, false],
  ['a bind mount without a record of an earlier one', ofOlderVersion, boundOver, nothing, false],
  ['the top of a disk without birth times', topOfDisk, topOfDisk, missing, true],
  ['the top of another disk without birth times', topOfDisk, { ...topOfDisk, mark: null }, missing, false],
  ['the top of a read-only disk', { ...topOfDisk, mark: null }, { ...topOfDisk, mark: null }, nothing, true],
  [
    'a read-only NFS share with a new number',
    { ...topOfDisk, kind: nfs, mark: null },
    { ...topOfDisk, kind: nfs, device: '9', mark: null },
    nothing,
    true,
  ],
];

describe('the directory at the path', () => {
  test.for(cases)('%s', async ([, before, found, proofs, isIt]) => {
    expect((await whyAnother(before, found, proofs)) === null).toBe(isIt);
  });

  test('is looked into for known files only when nothing cheaper tells', async () => {
    const hasKnownFile = (): never => expect.unreachable('it looked');
    expect(await whyAnother(share, { ...share, device: '51' }, { hasKnownFile, knowsNothing: false })).toBeNull();
  });

  test('says what happened', async () => {
    expect(await whyAnother(share, under, missing)).toBe('nothing is mounted at /srv/share now');
    expect(await whyAnother(share, { ...share, inode: '5', device: '60', mark: null }, missing)).toContain(
      'another file system',
    );
    expect(await whyAnother(plain, { ...plain, inode: '99', mark: null }, missing)).toContain('another directory');
  });
});

test('a folder that is closed comes with what opens it', async () => {
  expect(await whyRefused('/srv', 'it cannot be read', 'EACCES')).toMatch(
    process.geteuid?.() === 0
      ? /^even root may not open the directory \/srv \(EACCES\)/
      : /^user \S+ may not open the directory \/srv \(EACCES\); run `sudo setfacl -m u:\S+:rx -- '\/srv'`$/,
  );
});

test('a problem without a fix is only reported', async () => {
  expect(await whyRefused('/srv', 'it cannot be reached', 'ESTALE')).toBe('it cannot be reached (ESTALE)');
});
