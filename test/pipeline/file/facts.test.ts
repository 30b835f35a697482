import { describe, expect, test } from 'vitest';
import { isSameVersion, lookKey, looksTheSame } from '../../../src/pipeline/file/file-version.ts';
import type { FileVersion } from '../../../src/pipeline/file/file-version.ts';
import { redactedAddress } from '../../../src/pipeline/file/facts.ts';
import { someVersion } from '../some-facts.ts';

// The watcher keeps a key for each of 100,000 files instead of the version: it must not judge otherwise.
describe.each<[string, (one: FileVersion, other: FileVersion) => boolean]>([['isSameVersion', isSameVersion]])(
  'by %s',
  (_name, isSame) => {
    test('a file is the same version after a remount has given its device a new number', () => {
      expect(isSame(someVersion, { ...someVersion, dev: '7' })).toBe(true);
    });

    test.each([{ ino: '9' }, { birthtimeNs: '9' }, { size: 9 }, { mtimeNs: '9' }, { ctimeNs: '9' }])(
      'it is another with %o',
      (other) => {
        expect(isSame(someVersion, { ...someVersion, ...other })).toBe(false);
      },
    );
  },
);

describe.each<[string, (one: FileVersion, other: FileVersion) => boolean]>([
  ['looksTheSame', looksTheSame],
  ['lookKey', (one, other) => lookKey(one) === lookKey(other)],
])('by %s', (_name, isSame) => {
  test('a file looks the same after a chmod, a rename, or an overwrite whose time was restored', () => {
    expect(isSame(someVersion, { ...someVersion, dev: '7', ctimeNs: '9' })).toBe(true);
  });

  test.each([{ ino: '9' }, { birthtimeNs: '9' }, { size: 9 }, { mtimeNs: '9' }])('it does not with %o', (other) => {
    expect(isSame(someVersion, { ...someVersion, ...other })).toBe(false);
  });
});

test('a shown row says whether it has an upload address and headers, and not which', () => {
  const facts = { uploadUrl: 'https://up.example/1?sig=s3cret', uploadHeaders: { 'x-token': 's3cret' } };
  expect(redactedAddress(facts)).toEqual({ uploadUrl: 'https://redacted.invalid/', uploadHeaders: {} });
  const none = { uploadUrl: null, uploadHeaders: null };
  expect(redactedAddress(none)).toEqual(none);
});
