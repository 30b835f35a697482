import { expect, test } from 'vitest';
import { healthOf } from '../../src/daemon/health.ts';

const pause = {
  kind: 'offline',
  holds: 'everything',
  why: 'no answer',
  code: 'ECONNREFUSED',
  since: 0,
  probes: 1,
  nextProbeAt: 1,
} as const;

test.each([
  { what: 'nothing is wrong', paused: false, frozen: 0, word: 'ok' },
  { what: 'everything waits', paused: true, frozen: 0, word: 'waiting' },
  { what: 'a folder is frozen', paused: false, frozen: 1, word: 'frozen' },
  { what: 'everything waits and a folder is frozen', paused: true, frozen: 1, word: 'waiting' },
])('health is `$word` when $what', ({ paused, frozen, word }) => {
  expect(healthOf({ conductor: { pause: () => (paused ? pause : null) }, folders: { frozen: () => frozen } })).toBe(
    word,
  );
});
