import { InvalidArgumentError } from 'commander';
import { describe, expect, test } from 'vitest';
import { parseDay, periodOf } from '../../../src/cli/api/period.ts';

const now = Date.parse('2026-03-10T23:59:59.999Z');

describe('a day', () => {
  test.each([
    ['2026-03-01', '2026-03-01'],
    ['2024-02-29', '2024-02-29'],
    ['1d', '2026-03-10'],
    ['7d', '2026-03-04'],
    ['0007d', '2026-03-04'],
    ['30d', '2026-02-09'],
    ['3660d', '2016-03-03'],
  ])('%s is %s', (text, day) => {
    expect(parseDay(text, now)).toBe(day);
  });

  test('it is the day in UTC, regardless of place and time', () => {
    expect(parseDay('1d', Date.parse('2026-03-10T00:00:00Z'))).toBe('2026-03-10');
    expect(parseDay('2d', Date.parse('2026-01-01T00:00:00Z'))).toBe('2025-12-31');
  });

  test.each(['2026-02-29', '2026-02-30', '2026-04-31', '2026-13-01', '2026-00-10', '2026-01-00'])(
    '%s does not exist',
    (text) => {
      expect(() => parseDay(text, now)).toThrow(InvalidArgumentError);
    },
  );

  test.each([
    '',
    'yesterday',
    '7',
    'd',
    '-7d',
    '7D',
    '7 d',
    '1.5d',
    '20260301',
    '2026-3-1',
    '2026-03-01T00:00',
    ' 7d',
    '７d',
  ])('%j is refused with the two forms', (text) => {
    expect(() => parseDay(text, now)).toThrow(/2026-03-01.*7d/);
  });

  test.each(['0d', '3661d', '99999d'])('%s is out of range', (text) => {
    expect(() => parseDay(text, now)).toThrow(/1d.*3660d/);
  });
});

describe('a period', () => {
  test('with neither end is left to the service', () => {
    expect(periodOf({}, now)).toEqual({});
  });

  test('with a beginning alone ends today', () => {
    expect(periodOf({ from: '2026-03-04' }, now)).toEqual({ from: '2026-03-04', to: '2026-03-10' });
  });

  test('may be a single day, and may have its end alone', () => {
    expect(periodOf({ from: '2026-03-04', to: '2026-03-04' }, now)).toEqual({ from: '2026-03-04', to: '2026-03-04' });
    expect(periodOf({ to: '2026-03-04' }, now)).toEqual({ to: '2026-03-04' });
  });

  test('that ends before it begins is wrong usage', () => {
    const wrong = expect.objectContaining({ exitCode: 2 });
    expect(() => periodOf({ from: '2026-03-05', to: '2026-03-04' }, now)).toThrow(wrong);
    expect(() => periodOf({ from: '2027-01-01' }, now)).toThrow(/2027-01-01 .* today, 2026-03-10/);
  });
});
