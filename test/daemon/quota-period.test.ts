import { expect, test } from 'vitest';
import { periodAt } from '../../src/daemon/upload-times.ts';

const at = (text: string): number => Date.parse(text);

test.each([
  ['day', 0, 'America/Los_Angeles', '2026-11-29T20:00:00Z', '2026-11-29T08:00:00Z', '2026-11-30T08:00:00Z'],
  ['day', 0, 'America/Los_Angeles', '2026-11-29T07:59:00Z', '2026-11-28T08:00:00Z', '2026-11-29T08:00:00Z'],
  // The night in which daylight saving ends has 25 hours.
  ['day', 0, 'America/Los_Angeles', '2026-11-01T12:00:00Z', '2026-11-01T07:00:00Z', '2026-11-02T08:00:00Z'],
  ['day', 6 * 60, 'UTC', '2026-11-29T05:59:59Z', '2026-11-28T06:00:00Z', '2026-11-29T06:00:00Z'],
  ['month', 0, 'UTC', '2026-02-28T23:59:00Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'],
  ['month', 9 * 60, 'Asia/Tokyo', '2026-12-31T23:00:00Z', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ['month', 60, 'UTC', '2026-03-01T00:30:00Z', '2026-02-01T01:00:00Z', '2026-03-01T01:00:00Z'],
] as const)('a quota for a %s that resets at %i minutes in %s, at %s', (per, minutes, zone, now, since, until) => {
  expect(periodAt({ per, resets: { minutes, zone } }, at(now))).toEqual({ since: at(since), until: at(until) });
});
