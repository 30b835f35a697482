import { describe, expect, test } from 'vitest';

import { parseRetryAfter } from '../../../packages/client/src/transport/retry-after.ts';

const now = Date.UTC(2026, 10, 20, 12, 0, 0);

describe('Retry-After', () => {
  test.each([
    ['30', 30_000],
    [' 30 ', 30_000],
    ['1.5', 1500],
    ['0', 1000],
    ['0.2', 1000],
    ['86400', 86_400_000],
    ['9'.repeat(400), 2_147_483_647],
    [undefined, undefined],
    ['', undefined],
    ['-1', undefined],
    ['soon', undefined],
    ['NaN', undefined],
    ['1e9', undefined],
    ['1e309', undefined],
    ['0x10', undefined],
    ['30, 60', undefined],
    ['2026-11-20', undefined],
  ])('of %s is %s ms', (header, expected) => {
    expect(parseRetryAfter(header, undefined, now)).toBe(expected);
  });

  test('as a date counts from the Date of the same answer, whatever our clock says', () => {
    const header = 'Fri, 20 Nov 2026 12:01:30 GMT';
    expect(parseRetryAfter(header, 'Fri, 20 Nov 2026 12:00:00 GMT', now - 86_400_000)).toBe(90_000);
    expect(parseRetryAfter(header, undefined, now)).toBe(90_000);
    expect(parseRetryAfter(header, 'rubbish', now)).toBe(90_000);
  });

  // RFC 9110 5.6.7: the form to send, that of RFC 850, and that of asctime.
  test.each(['Fri, 20 Nov 2026 12:01:30 GMT', 'Friday, 20-Nov-26 12:01:30 GMT', 'Fri Nov 20 12:01:30 2026'])(
    'may be the date %s',
    (header) => {
      expect(parseRetryAfter(header, undefined, now)).toBe(90_000);
      expect(parseRetryAfter('60', header, now)).toBe(60_000);
    },
  );

  test.each(['Fri Nov 20 2026', 'Fri Nov 20 12:01:30 2026 +0200', 'Fri, 20 Nov 2026 12:01:30 +0200', 'Frightening'])(
    'may not be the date %s',
    (header) => {
      expect(parseRetryAfter(header, undefined, now)).toBeUndefined();
    },
  );

  test('of a date in eight thousand years is no longer than a timer takes', () => {
    expect(parseRetryAfter('Fri, 31 Dec 9999 23:59:59 GMT', undefined, now)).toBe(2_147_483_647);
  });

  test('as a date that is over asks for the shortest wait', () => {
    expect(parseRetryAfter('Fri, 20 Nov 2026 11:00:00 GMT', undefined, now)).toBe(1000);
  });
});
