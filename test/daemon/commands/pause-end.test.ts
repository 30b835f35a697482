import { expect, test } from 'vitest';
import { pauseEnd } from '../../../src/daemon/commands/pause-end.ts';

const noon = new Date(2026, 10, 22, 12, 0).getTime();

test.each([
  ['2h', noon + 7_200_000],
  ['18:00', noon + 6 * 3_600_000],
  ['9:30', new Date(2026, 10, 23, 9, 30).getTime()],
])('a pause until %s has an end', (text, end) => {
  expect(pauseEnd(text, noon)).toEqual({ ok: true, value: end });
});

test.each([
  ['tomorrow', 'neither a time of day like 18:00 nor a duration like 30m or 2h: tomorrow'],
  ['25:00', 'neither a time of day like 18:00 nor a duration like 30m or 2h: 25:00'],
  ['0s', 'too short; at least 1s'],
])('the end %s is refused in a plain sentence', (text, message) => {
  expect(pauseEnd(text, noon)).toEqual({ ok: false, message });
});
