import { describe, expect, test } from 'vitest';
import { contentKey, isSameVersion } from '../../../src/pipeline/file/file-version.ts';
import type { FileVersion } from '../../../src/pipeline/file/file-version.ts';
import { someVersion } from '../some-facts.ts';

// The watcher keeps a key for each of 100,000 files instead of the version: it must not judge otherwise.
describe.each<[string, (one: FileVersion, other: FileVersion) => boolean]>([
  ['isSameVersion', isSameVersion],
  ['contentKey', (one, other) => contentKey(one) === contentKey(other)],
])('by %s', (_name, isSame) => {
  test.each([
    ['a new number of its device, as after a remount', { dev: '7' }],
    ['a chmod, rename or hard link', { ctimeNs: '9' }],
  ])('a file is the same version after %s', (_what, other) => {
    expect(isSame(someVersion, { ...someVersion, ...other })).toBe(true);
  });

  test.each([{ ino: '9' }, { birthtimeNs: '9' }, { size: 9 }, { mtimeNs: '9' }])('it is another with %o', (other) => {
    expect(isSame(someVersion, { ...someVersion, ...other })).toBe(false);
  });
});
