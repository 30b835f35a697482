import { expect, test } from 'vitest';
import { playingTime } from '../../../packages/sandbox/src/page/video-table.ts';

test.each([
  [0.2, '0:01'],
  [4.04, '0:04'],
  [61, '1:01'],
  [3723, '1:02:03'],
])('%d s of playing time are %j', (seconds, words) => {
  expect(playingTime(seconds)).toBe(words);
});
