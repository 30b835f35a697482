import { expect, test } from 'vitest';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatMoment,
  formatPercent,
  formatRate,
  formatRelative,
} from '../../../src/cli/output/format.ts';

test('amounts are written for people', () => {
  expect([0, 999, 12_345_678, 1.5e12].map((bytes) => formatBytes(bytes))).toEqual([
    '0 B',
    '999 B',
    '12.3 MB',
    '1.5 TB',
  ]);
  expect(formatRate(8_123_456.7)).toBe('8.12 MB/s');
  expect([0, 450, 3_200, 80_400, 7_500_000, 90_000_000].map((ms) => formatDuration(ms))).toEqual([
    '0 ms',
    '450 ms',
    '3.2 s',
    '1 m 20 s',
    '2 h 5 m',
    '1 d 1 h',
  ]);
});

test.each([NaN, Infinity, -1, null])('%s is a dash', (value) => {
  expect([formatBytes(value), formatRate(value), formatDuration(value)]).toEqual(['-', '-', '-']);
});

test('moments are shown relative to now', () => {
  const at = (distance: number) => formatRelative(1_000_000_000 + distance, 1_000_000_000);
  expect([at(180_000), at(-7_200_000), at(999), at(-5_000)]).toEqual(['in 3 m', '2 h ago', 'now', '5 s ago']);
  expect([formatRelative(null, 0), formatRelative(NaN, 0)]).toEqual(['-', '-']);
});

test('a share is 100 at the end only', () => {
  expect([
    formatPercent(0, 10),
    formatPercent(9.99, 10),
    formatPercent(10, 10),
    formatPercent(11, 10),
    formatPercent(0, 0),
  ]).toEqual(['0%', '99%', '100%', '100%', '-']);
});

test('counts have their thousands apart', () => {
  expect([0, 999, 1_234_567, null, -1].map(formatCount)).toEqual(['0', '999', '1,234,567', '-', '-']);
});

test('a time is relative for a live reader, and as it was sent elsewhere', () => {
  const now = Date.parse('2026-03-10T12:00:00Z');
  const moment = (iso: string | undefined) => [formatMoment(iso, now, true), formatMoment(iso, now, false)];
  expect(moment('2026-03-10T09:00:00Z')).toEqual(['3 h ago', '2026-03-10T09:00:00Z']);
  expect(moment('a while ago')).toEqual(['a while ago', 'a while ago']);
  expect(moment(undefined)).toEqual(['-', '-']);
});
