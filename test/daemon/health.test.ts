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

const held = { folder: '/inbox', since: 1, until: null, by: 'anna' };

test.each([
  { what: 'nothing is wrong', paused: false, frozen: 0, word: 'ok' },
  { what: 'a person paused a folder', paused: false, frozen: 0, isHeld: true, word: 'paused' },
  { what: 'a person paused a folder, and another is frozen', paused: false, frozen: 1, isHeld: true, word: 'frozen' },
  { what: 'everything waits', paused: true, frozen: 0, word: 'waiting' },
  { what: 'a folder is frozen', paused: false, frozen: 1, word: 'frozen' },
  { what: 'everything waits and a folder is frozen', paused: true, frozen: 1, word: 'waiting' },
  { what: 'the database is away, so everything waits', paused: true, frozen: 1, isAway: true, word: 'away' },
  { what: 'the database answers', paused: false, frozen: 0, isAway: false, word: 'ok' },
])('health is `$word` when $what', ({ paused, frozen, isHeld = false, isAway, word }) => {
  expect(
    healthOf({
      fleet: isAway === undefined ? null : { awaySince: () => (isAway ? 1 : null) },
      conductor: { pause: () => (paused ? pause : null), pauses: { list: () => (isHeld ? [held] : []) } },
      folders: {
        frozenFolders: () => Array.from({ length: frozen }, (_, n) => ({ path: `/${n}`, why: 'it is away' })),
      },
    }),
  ).toBe(word);
});
