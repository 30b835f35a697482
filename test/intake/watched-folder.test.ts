import { expect, test } from 'vitest';
import { WatchedFolder } from '../../src/intake/watched-folder.ts';

/** Files of which only the path is asked. */
function countingLooks(count: number) {
  const looks = { count: 0 };
  const named = (name: string) =>
    Array.from({ length: count }, (_, n) => ({
      folder: '/in',
      kind: 'media',
      version: { size: 1 },
      get path() {
        looks.count += 1;
        return `${name} ${n}.mp4`;
      },
    }));
  return { looks, named };
}

// After a `chmod -R` all of them settle or are compared, and the status is asked every second.
test('what settles and what is compared is listed without looking at each for each of the others', () => {
  const { looks, named } = countingLooks(500);
  const folder: object = Object.create(WatchedFolder.prototype, {
    watcher: { value: { settling: () => named('settles') } },
    intake: { value: { unread: () => [...named('is compared'), ...named('settles')] } },
  });
  expect((folder as WatchedFolder).settling()).toHaveLength(1_000);
  expect(looks.count).toBeLessThan(10 * 500);
});

test('what settles is counted without a text for each file, and what is compared too once', () => {
  const { named } = countingLooks(500);
  const folder: object = Object.create(WatchedFolder.prototype, {
    watcher: { value: { waiting: () => [...named('settles'), { path: 'clip.yaml', kind: 'sidecar' }] } },
    intake: { value: { unread: () => [...named('is compared'), ...named('settles')] } },
  });
  expect((folder as WatchedFolder).countSettling()).toBe(1_000);
});
