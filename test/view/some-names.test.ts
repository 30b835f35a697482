import { expect, test } from 'vitest';
import { someNames } from '../../src/view/words/text.ts';

test.each([
  [['a.mp4'], 1, 'a.mp4'],
  [['a.mp4', 'b.mp4', 'c.mp4'], 3, 'a.mp4, b.mp4, c.mp4'],
  [['a.mp4', 'b.mp4', 'c.mp4'], 60, 'a.mp4, b.mp4, c.mp4 and 57 more'],
  [['a.mp4', 'b.mp4', 'c.mp4', 'd.mp4'], 4, 'a.mp4, b.mp4, c.mp4 and 1 more'],
])('%j of %i files', (names, count, words) => {
  expect(someNames(names, count)).toBe(words);
});
