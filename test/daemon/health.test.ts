import { expect, test } from 'vitest';
import { healthOf } from '../../src/daemon/health.ts';
import { waitsAt } from '../view/moments.ts';
import type { Moment } from '../view/moments.ts';

const people = [{ folder: '/inbox', since: 1, until: null, by: 'anna' }];
const frozen = ['/nas'];

test.each<[string, Moment, string]>([
  ['nothing is wrong', {}, 'ok'],
  ['a person paused a folder', { people }, 'paused'],
  ['a person paused a folder, and another is frozen', { people, frozen }, 'frozen'],
  ['everything waits', { pause: {} }, 'waiting'],
  ['uploads wait', { pause: { holds: 'uploads' } }, 'waiting'],
  ['a folder is frozen', { frozen }, 'frozen'],
  ['everything waits and a folder is frozen', { pause: {}, frozen }, 'waiting'],
  ['the database is away, so everything waits', { away: 'PostgreSQL does not answer', pause: {}, frozen }, 'away'],
  ['it is night', { startAt: Date.now() + 60_000 }, 'ok'],
])('health is right when %s', (_, moment, word) => {
  expect(healthOf(waitsAt(moment))).toBe(word);
});
