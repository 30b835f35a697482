import { expect, test } from 'vitest';
import { countVideosSettling, videosSettling } from '../../src/intake/folder-status.ts';
import type { SettlingFile } from '../../src/watch/ports.ts';
import { someVersion } from '../pipeline/some-facts.ts';

/** Files that count how often a path is read. */
function countingLooks(count: number) {
  const looks = { count: 0 };
  const named = (name: string): SettlingFile[] =>
    Array.from({ length: count }, (_, n) => ({
      folder: '/in',
      kind: 'media' as const,
      version: someVersion,
      size: 1,
      why: 'it settles',
      lacksMarker: false,
      get path() {
        looks.count += 1;
        return `${name} ${n}.mp4`;
      },
    }));
  const compared = (name: string) => named(name).map((file) => Object.assign(file, { flaw: null }));
  return { looks, named, compared };
}

// After a `chmod -R` all files settle or are compared, and the status is asked every second.
test('what settles and what is compared is listed without looking at each for each of the others', () => {
  const { looks, named, compared } = countingLooks(500);
  const files = videosSettling(named('settles'), [...compared('is compared'), ...compared('settles')]);
  expect(files).toHaveLength(1_000);
  expect(looks.count).toBeLessThan(10 * 500);
});

test('what settles is counted without a text for each file, and what is compared too once', () => {
  const { named, compared } = countingLooks(500);
  const settling = [...named('settles'), { path: 'clip.yaml', kind: 'sidecar' as const }];
  expect(countVideosSettling(settling, [...compared('is compared'), ...compared('settles')])).toBe(1_000);
});
