import { expect, test } from 'vitest';
import { dayCount, dayOf, daysOf, periodOf, spanOf } from '../../../packages/sandbox/src/analytics/period.ts';

const NOW = Date.parse('2026-03-01T23:59:59.999Z');

test.each([
  ['nothing asked', {}, { from: '2026-01-31', to: '2026-03-01' }],
  ['only the end', { to: '2024-03-01' }, { from: '2024-02-01', to: '2024-03-01' }],
  ['only the start', { from: '2026-02-27' }, { from: '2026-02-27', to: '2026-03-01' }],
  ['both', { from: '2020-01-01', to: '2020-01-02' }, { from: '2020-01-01', to: '2020-01-02' }],
])('the period with %s', (_what, asked, period) => {
  expect(periodOf(asked, NOW)).toEqual(period);
});

test('the period that is filled in has 30 days', () => {
  expect(dayCount(periodOf({}, NOW))).toBe(30);
});

test('a day lasts from its first millisecond in UTC to its last', () => {
  const { fromMs, beforeMs } = spanOf({ from: '2026-03-01', to: '2026-03-01' });
  expect([dayOf(fromMs - 1), dayOf(fromMs), dayOf(beforeMs - 1), dayOf(beforeMs)]).toEqual([
    '2026-02-28',
    '2026-03-01',
    '2026-03-01',
    '2026-03-02',
  ]);
});

test('the days of a period go over the end of a month in a leap year', () => {
  expect(daysOf({ from: '2024-02-28', to: '2024-03-01' })).toEqual(['2024-02-28', '2024-02-29', '2024-03-01']);
  expect(daysOf({ from: '2024-03-02', to: '2024-03-01' })).toEqual([]);
});
