import { describe, expect, test } from 'vitest';
import { hoursAfter, limitAt, parseBandwidthHours } from '../../src/config/bandwidth-hours.ts';
import type { BandwidthHours } from '../../src/config/bandwidth-hours.ts';

function hours(value: unknown): BandwidthHours {
  const parsed = parseBandwidthHours(value);
  return parsed.ok ? parsed.value : expect.fail(JSON.stringify(parsed.issues));
}

const limitChangesAt = (bandwidth: BandwidthHours, nowMs: number): number | null =>
  hoursAfter({ bandwidth, window: null }, nowMs)[0]?.at ?? null;

const at = (hour: number, minute = 0): number => new Date(2026, 5, 10, hour, minute).getTime();

describe('the limit of all uploads', () => {
  test('is one for the whole day', () => {
    expect(limitAt(hours('20MB/s'), at(3))).toBe(20_000_000);
    expect(limitAt(hours('unlimited'), at(3))).toBeNull();
    expect(limitChangesAt(hours('20MB/s'), at(3))).toBeNull();
  });

  test('is another one by the time of day', () => {
    const value = hours({ '08:00-18:00': '20MB/s', '22:00-02:00': '8Mbit/s', otherwise: 'unlimited' });
    const limits = [7, 8, 17, 18, 22, 23, 0, 1, 2].map((hour) => limitAt(value, at(hour)));
    expect(limits).toEqual([null, 20e6, 20e6, null, 1e6, 1e6, 1e6, 1e6, null]);
    expect(limitChangesAt(value, at(7, 30))).toBe(at(8));
    expect(limitChangesAt(value, at(8))).toBe(at(18));
    expect(limitChangesAt(value, at(18))).toBe(at(22));
  });

  test('does not change between two windows that say the same', () => {
    const value = hours({ '08:00-12:00': '20MB/s', '12:00-18:00': '20000kB/s', otherwise: 'unlimited' });
    expect(limitChangesAt(value, at(9))).toBe(at(18));
  });

  test.each<[string, unknown, readonly (readonly [string | undefined, RegExp])[]]>([
    [
      'an overlap',
      { '08:00-18:00': '1MB/s', '17:00-20:00': '2MB/s', otherwise: 'unlimited' },
      [['17:00-20:00', /^overlaps "08:00-18:00"$/]],
    ],
    [
      'an overlap over midnight',
      { '20:00-06:00': '1MB/s', '05:00-07:00': '2MB/s', otherwise: 'unlimited' },
      [['05:00-07:00', /overlaps/]],
    ],
    [
      'the same window twice',
      { '8:00-18:00': '1MB/s', '08:00-18:00': '2MB/s', otherwise: 'unlimited' },
      [['08:00-18:00', /overlaps "8:00-18:00"/]],
    ],
    ['no other times', { '08:00-18:00': '1MB/s' }, [[undefined, /needs otherwise/]]],
    ['what is no time', { daytime: '1MB/s', otherwise: 'unlimited' }, [['daytime', /not a part of the day/]]],
    [
      'what is no limit',
      { '08:00-18:00': 'fast', otherwise: 20 },
      [
        ['08:00-18:00', /not a bandwidth/],
        ['otherwise', /20MB\/s/],
      ],
    ],
    ['nothing', null, [[undefined, /has no value/]]],
    ['a number', 20, [[undefined, /write unlimited/]]],
    ['a list', ['20MB/s'], [[undefined, /by the time of day/]]],
  ])('is refused for %s', (_, value, issues) => {
    const parsed = parseBandwidthHours(value);
    const found = parsed.ok ? [] : parsed.issues;
    expect(found.map(({ key }) => key)).toEqual(issues.map(([key]) => key));
    for (const [index, [, message]] of issues.entries()) expect(found[index]?.message).toMatch(message);
  });
});
