import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hoursAfter } from '../../src/config/bandwidth-hours.ts';
import { doOverlap, isInWindow, parseUploadWindow, parseWindow } from '../../src/config/day-window.ts';
import type { DayWindow } from '../../src/config/day-window.ts';

const before = process.env['TZ'];
beforeAll(() => {
  process.env['TZ'] = 'Europe/Berlin';
});
afterAll(() => {
  if (before === undefined) delete process.env['TZ'];
  else process.env['TZ'] = before;
});

function window(text: string): DayWindow {
  const parsed = parseWindow(text);
  return parsed.ok ? parsed.value : expect.fail(parsed.message);
}

describe('a part of the day', () => {
  test.each([
    ['08:00-18:00', { from: 480, to: 1080 }],
    ['8:00 - 18:30', { from: 480, to: 1110 }],
    ['20:00-06:00', { from: 1200, to: 360 }],
    ['00:00-24:00', { from: 0, to: 1440 }],
    ['22:00-00:00', { from: 1320, to: 0 }],
  ])('%s is read', (text, value) => {
    expect(parseWindow(text)).toEqual({ ok: true, value });
  });

  test.each([
    '',
    '8-18',
    '08:00',
    '08:00-18:60',
    '24:00-08:00',
    '08:00-24:01',
    '08:00-18:00h',
    '-08:00-18:00',
    '８:00-9:00',
  ])('%j is refused, with an example', (text) => {
    expect(parseWindow(text)).toMatchObject({ ok: false, message: expect.stringContaining('"08:00-18:00"') });
  });

  test('of no length is refused, because it could mean nothing or a whole day', () => {
    expect(parseWindow('08:00-08:00')).toMatchObject({ ok: false, message: expect.stringContaining('"00:00-24:00"') });
  });

  test('always is none, for uploads', () => {
    expect(parseUploadWindow('always')).toEqual({ ok: true, value: null });
    expect(parseUploadWindow('20:00-06:00')).toEqual(parseWindow('20:00-06:00'));
  });

  test.each([
    ['08:00-18:00', '18:00-20:00', false],
    ['08:00-18:00', '17:59-20:00', true],
    ['20:00-06:00', '05:59-07:00', true],
    ['20:00-06:00', '06:00-20:00', false],
    ['22:00-02:00', '23:00-23:30', true],
    ['22:00-02:00', '01:00-05:00', true],
    ['22:00-00:00', '00:00-02:00', false],
    ['00:00-24:00', '12:00-12:01', true],
  ])('%s and %s overlap: %s', (one, other, do_) => {
    expect(doOverlap(window(one), window(other))).toBe(do_);
    expect(doOverlap(window(other), window(one))).toBe(do_);
  });

  test('begins with its first minute and ends before its last, on every minute of the day', () => {
    for (const text of ['08:00-18:00', '20:00-06:00', '22:00-00:00', '00:00-24:00']) {
      const { from, to } = window(text);
      for (let minute = 0; minute < 1440; minute += 1) {
        const isIn = from < to ? minute >= from && minute < to : minute >= from || minute < to;
        const at = new Date(2026, 5, 10, Math.floor(minute / 60), minute % 60, 59).getTime();
        expect(isInWindow({ from, to }, at), `${text} ${minute}`).toBe(isIn);
      }
    }
  });
});

/** When a window opens next, as the local clock shows it. */
function opens(text: string, at: string): string {
  const hours = { bandwidth: { windows: [], otherwise: null }, window: window(text) };
  const next = hoursAfter(hours, Date.parse(at)).find(({ mayStart }) => mayStart);
  return next === undefined ? 'never' : new Date(next.at).toISOString();
}

describe('the next opening', () => {
  test.each([
    ['20:00-06:00', '2026-06-10T12:00:30Z', '2026-06-10T18:00:00.000Z'],
    ['08:00-18:00', '2026-06-10T16:00:00Z', '2026-06-11T06:00:00.000Z'],
    // 29 March 2026: 02:00 becomes 03:00.
    ['02:30-05:00', '2026-03-29T00:30:00Z', '2026-03-29T01:00:00.000Z'],
    ['02:00-03:00', '2026-03-29T00:30:00Z', '2026-03-30T00:00:00.000Z'],
    ['20:00-06:00', '2026-03-29T05:00:00Z', '2026-03-29T18:00:00.000Z'],
    // 25 October 2026: 03:00 becomes 02:00.
    ['02:00-02:30', '2026-10-25T00:45:00Z', '2026-10-25T01:00:00.000Z'],
    ['20:00-06:00', '2026-10-25T05:30:00Z', '2026-10-25T19:00:00.000Z'],
  ])('of %s after %s is %s', (text, at, next) => {
    expect(opens(text, at)).toBe(next);
  });

  test('is in the window, and the minute before it is not, around both changes of the clock', () => {
    for (const day of ['2026-03-28T12:00:00Z', '2026-10-24T12:00:00Z']) {
      for (const text of ['01:30-02:30', '02:10-02:50', '02:59-03:01', '23:00-03:00', '20:00-06:00']) {
        for (let quarter = 0; quarter < 36 * 4; quarter += 1) {
          const at = Date.parse(day) + quarter * 900_000;
          if (isInWindow(window(text), at)) continue;
          const next = Date.parse(opens(text, new Date(at).toISOString()));
          expect(isInWindow(window(text), next), `${text} ${quarter}`).toBe(true);
          expect(isInWindow(window(text), next - 1), `${text} ${quarter}`).toBe(false);
        }
      }
    }
  });
});
