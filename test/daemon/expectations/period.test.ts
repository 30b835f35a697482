import { describe, expect, test } from 'vitest';
import { periodAt } from '../../../src/daemon/expectations/expectations.ts';
import { dayIn, momentIn } from '../../../src/pipeline/zoned-time.ts';
import { parseDays } from '../../../src/config/day-window.ts';

const berlin = 'Europe/Berlin';
const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 16);
const on = (text: string): { year: number; month: number; day: number } => {
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number);
  return { year, month, day };
};
const minutes = (time: string): number => {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return hour * 60 + minute;
};

describe('the moment at which a clock shows a time', () => {
  test.each([
    ['in winter', berlin, '2026-01-10', '18:30', '2026-01-10T17:30'],
    ['in summer', berlin, '2026-07-10', '18:30', '2026-07-10T16:30'],
    ['before the change in spring', berlin, '2026-03-29', '01:59', '2026-03-29T00:59'],
    ['that spring skips: the moment of the change', berlin, '2026-03-29', '02:30', '2026-03-29T01:00'],
    ['after the change in spring', berlin, '2026-03-29', '03:00', '2026-03-29T01:00'],
    ['that autumn repeats: the first of the two', berlin, '2026-10-25', '02:30', '2026-10-25T00:30'],
    ['after the change in autumn', berlin, '2026-10-25', '03:00', '2026-10-25T02:00'],
    ['at midnight', berlin, '2026-03-29', '00:00', '2026-03-28T23:00'],
    ['where midnight is skipped', 'America/Santiago', '2026-09-06', '00:00', '2026-09-06T04:00'],
    ['on a change by half an hour', 'Australia/Lord_Howe', '2026-10-04', '02:15', '2026-10-03T15:30'],
    ['that a change by half an hour repeats', 'Australia/Lord_Howe', '2026-04-05', '01:45', '2026-04-04T14:45'],
    ['far in the east', 'Pacific/Kiritimati', '2026-01-01', '00:00', '2025-12-31T10:00'],
    ['far in the west', 'Pacific/Pago_Pago', '2026-01-01', '23:59', '2026-01-02T10:59'],
    ['by an offset of quarters', 'Asia/Kathmandu', '2026-01-01', '06:00', '2026-01-01T00:15'],
  ])('%s', (_, zone, day, time, moment) => {
    expect(iso(momentIn(zone, on(day), minutes(time)))).toBe(moment);
  });

  test('is the first minute that shows it or a later one, on every quarter of an hour of a year of changes', () => {
    for (const [zone, days] of [
      [berlin, ['2026-03-29', '2026-10-25', '2026-06-01']],
      ['America/New_York', ['2026-03-08', '2026-11-01']],
      ['Australia/Lord_Howe', ['2026-04-05', '2026-10-04']],
    ] as const)
      for (const day of days)
        for (let minute = 0; minute < 1440; minute += 15) {
          const at = momentIn(zone, on(day), minute);
          const shown = shownAt(zone, at);
          expect(shown >= `${day} ${clock(minute)}`, `${zone} ${day} ${minute}: ${shown}`).toBe(true);
          const before = shownAt(zone, at - 60_000);
          expect(before < `${day} ${clock(minute)}`, `${zone} ${day} ${minute} before: ${before}`).toBe(true);
        }
  });
});

function clock(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}

function shownAt(zone: string, at: number): string {
  const { year, month, day } = dayIn(zone, at);
  const time = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(at);
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')} ${time}`;
}

describe('the day for which files count', () => {
  const expectation = (days: string, by: string, from = '00:00') => {
    const parsed = parseDays(days);
    return {
      by: minutes(by),
      from: minutes(from),
      days: parsed.ok ? parsed.value : [],
      count: 1,
      zone: berlin,
      until: 'live' as const,
      graceMs: 0,
    };
  };
  const at = (expected: ReturnType<typeof expectation>, moment: string) => {
    const { day, from, by, end } = periodAt(expected, Date.parse(`${moment}:00Z`));
    return [day, iso(from), iso(by), iso(end)];
  };

  test.each([
    [
      'a working day',
      'mon-fri',
      '18:30',
      '00:00',
      '2026-11-20T12:00',
      ['2026-11-20', '2026-11-19T23:00', '2026-11-20T17:30', '2026-11-22T23:00'],
    ],
    [
      'the weekend, which belongs to Friday',
      'mon-fri',
      '18:30',
      '00:00',
      '2026-11-22T12:00',
      ['2026-11-20', '2026-11-19T23:00', '2026-11-20T17:30', '2026-11-22T23:00'],
    ],
    [
      'the first minute of Monday',
      'mon-fri',
      '18:30',
      '00:00',
      '2026-11-22T23:00',
      ['2026-11-23', '2026-11-22T23:00', '2026-11-23T17:30', '2026-11-23T23:00'],
    ],
    [
      'a day with 23 hours',
      'daily',
      '18:30',
      '00:00',
      '2026-03-29T12:00',
      ['2026-03-29', '2026-03-28T23:00', '2026-03-29T16:30', '2026-03-29T22:00'],
    ],
    [
      'a day with 25 hours',
      'daily',
      '18:30',
      '00:00',
      '2026-10-25T12:00',
      ['2026-10-25', '2026-10-24T22:00', '2026-10-25T17:30', '2026-10-25T23:00'],
    ],
    [
      'a time that does not exist',
      'daily',
      '02:30',
      '00:00',
      '2026-03-29T12:00',
      ['2026-03-29', '2026-03-28T23:00', '2026-03-29T01:00', '2026-03-29T22:00'],
    ],
    [
      'a time that exists twice',
      'daily',
      '02:30',
      '00:00',
      '2026-10-25T12:00',
      ['2026-10-25', '2026-10-24T22:00', '2026-10-25T00:30', '2026-10-25T23:00'],
    ],
    [
      'from the evening before',
      'daily',
      '00:30',
      '20:00',
      '2026-11-22T21:00',
      ['2026-11-23', '2026-11-22T19:00', '2026-11-22T23:30', '2026-11-23T19:00'],
    ],
    [
      'a whole day up to its time',
      'daily',
      '18:30',
      '18:30',
      '2026-11-22T12:00',
      ['2026-11-22', '2026-11-21T17:30', '2026-11-22T17:30', '2026-11-22T17:30'],
    ],
    [
      'once a week',
      'sun',
      '18:30',
      '00:00',
      '2026-11-21T12:00',
      ['2026-11-15', '2026-11-14T23:00', '2026-11-15T17:30', '2026-11-21T23:00'],
    ],
  ])('%s', (_, days, by, from, moment, period) => {
    expect(at(expectation(days, by, from), moment)).toEqual(period);
  });

  test('every moment of a year is in exactly one period, and they follow each other without a gap', () => {
    const expected = expectation('mon-fri', '02:30');
    let last = periodAt(expected, Date.parse('2026-01-05T12:00Z'));
    for (let moment = last.end; moment < Date.parse('2027-01-05T00:00Z'); moment = last.end) {
      const next = periodAt(expected, moment);
      expect(next.from).toBe(last.end);
      expect(periodAt(expected, moment - 1).day).toBe(last.day);
      expect(next.by).toBeGreaterThan(next.from);
      expect(next.by).toBeLessThan(next.end);
      last = next;
    }
  });
});
