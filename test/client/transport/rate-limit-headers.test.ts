import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { rateLimitsOf } from '../../../packages/client/src/transport/rate-limit-headers.ts';

const date = 'Sun, 29 Nov 2026 12:00:00 GMT';
const dateMs = Date.parse(date);
/** Our clock is a year ahead of the service's. */
const nowMs = dateMs + 365 * 86_400_000;
const read = (headers: Readonly<Record<string, string>>) => rateLimitsOf({ date, ...headers }, nowMs);

const github = (reset: string, more: Readonly<Record<string, string>> = {}) =>
  read({ 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '12', 'x-ratelimit-reset': reset, ...more });

describe('a reset of X-RateLimit-Reset', () => {
  test.each([
    ['seconds', '30', 30_000],
    ['seconds of the whole hour', '3600', 3_600_000],
    ['milliseconds', '45000', 45_000],
    ['a fraction of seconds', '1.5', 1_500],
    ['epoch seconds', String(dateMs / 1000 + 90), 90_000],
    ['epoch seconds with a fraction', `${dateMs / 1000 + 90}.25`, 90_250],
    ['epoch milliseconds', String(dateMs + 90_000), 90_000],
    ['an ISO date', '2026-11-29T12:01:00+00:00', 60_000],
    ['an ISO date in another zone', '2026-11-29T13:01:00.500+0100', 60_500],
    ['an ISO date without a zone', '2026-11-29 12:01:00', 60_000],
    ['an HTTP date', 'Sun, 29 Nov 2026 12:01:00 GMT', 60_000],
    ['a time beyond an hour, which counts as an hour', String(dateMs / 1000 + 80_000), 3_600_000],
  ])('may be %s', (_, reset, resetMs) => {
    expect(github(reset)).toEqual({
      limits: [{ name: 'X-RateLimit 5000', remaining: 12, resetMs, isPolicyOnly: false }],
      ignored: [],
    });
  });

  test.each([
    ['in the past', String(dateMs / 1000 - 60)],
    ['in the past', '2020-01-01T00:00:00Z'],
    ['more than a day away', String(dateMs / 1000 + 90_000)],
    ['more than a day away', '999999999999999'],
    ['not a time', 'soon'],
    ['not a time', '-1'],
    ['not a time', '1e3'],
    ['not a time', '2026-13-45T99:00:00Z'],
    ['not a time', '12, 13'],
  ])('that is %s is ignored: %s', (why, reset) => {
    expect(github(reset)).toEqual({ limits: [], ignored: [`X-RateLimit-Reset: ${why}`] });
  });

  test.each(['0', String(dateMs / 1000 - 2)])('that has just come (%s) leaves no limit', (reset) => {
    expect(github(reset)).toEqual({ limits: [], ignored: [] });
  });

  test('without a Date, a time of day is compared with our clock', () => {
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(nowMs / 1000 + 5) };
    expect(rateLimitsOf(headers, nowMs).limits).toMatchObject([{ remaining: 0, resetMs: 5000 }]);
  });
});

describe('the dialects', () => {
  test.each<[string, Record<string, string>, object[]]>([
    [
      'Frame.io: a window in milliseconds',
      { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '3', 'x-ratelimit-window': '60000' },
      [{ name: 'X-RateLimit 10', remaining: 3, resetMs: 60_000 }],
    ],
    [
      'a window shows that the reset is in milliseconds too',
      { 'x-ratelimit-remaining': '3', 'x-ratelimit-window': '2000', 'x-ratelimit-reset': '1500' },
      [{ name: 'X-RateLimit ?', remaining: 3, resetMs: 1500 }],
    ],
    [
      'X-Rate-Limit-…',
      { 'x-rate-limit-limit': '15', 'x-rate-limit-remaining': '0', 'x-rate-limit-reset': String(dateMs / 1000 + 60) },
      [{ name: 'X-Rate-Limit 15', remaining: 0, resetMs: 60_000 }],
    ],
    ['no reset at all: a minute', { 'x-ratelimit-remaining': '0' }, [{ remaining: 0, resetMs: 60_000 }]],
    [
      'draft 6: seconds, whatever their number',
      { 'ratelimit-limit': '100, 100;w=86400', 'ratelimit-remaining': '7', 'ratelimit-reset': '7200' },
      [{ name: 'RateLimit 100', remaining: 7, resetMs: 3_600_000 }],
    ],
    [
      'draft 7: a dictionary',
      { ratelimit: 'limit=100, remaining=50, reset=30', 'ratelimit-policy': '100;w=60' },
      [{ name: 'RateLimit 100/60000', remaining: 50, resetMs: 30_000 }],
    ],
    [
      'the draft: several limits',
      {
        ratelimit: '"burst";r=5;t=10, "daily";r=3;t=3600',
        'ratelimit-policy': '"burst";q=50;w=10,"daily";q=9000;w=86400;pk=:dGVuYW50:',
      },
      [
        { name: 'RateLimit 50/10000', remaining: 5, resetMs: 10_000 },
        { name: 'RateLimit 9000/86400000', remaining: 3, resetMs: 3_600_000 },
      ],
    ],
    [
      'the draft without a time: the window',
      { ratelimit: 'burst;r=5', 'ratelimit-policy': 'burst;q=50;w=10' },
      [{ remaining: 5, resetMs: 10_000 }],
    ],
    ['the draft without a policy', { ratelimit: '"a;b,c";r=5;t=10' }, [{ name: 'RateLimit 0', remaining: 5 }]],
    [
      'a policy alone: a window that this request has opened',
      { 'ratelimit-policy': '"burst";q=50;w=10' },
      [{ name: 'RateLimit 50/10000', remaining: 49, resetMs: 10_000, isPolicyOnly: true }],
    ],
    [
      'quotas of bytes and connections are no limits of requests',
      {
        ratelimit: '"bytes";r=0;t=60, "open";r=0',
        'ratelimit-policy': '"bytes";q=1000;w=60;qu="content-bytes", "open";q=4;qu="concurrent-requests"',
      },
      [],
    ],
    [
      'two limits with the same name: the fewest requests',
      { ratelimit: '"you";r=9;t=10, "all";r=4;t=20', 'ratelimit-policy': '"you";q=50;w=60,"all";q=50;w=60' },
      [{ remaining: 4, resetMs: 20_000 }],
    ],
    ['no header', {}, []],
    ['a limit without what is left of it', { 'x-ratelimit-limit': '5000', 'x-ratelimit-reset': '60' }, []],
  ])('%s', (_, headers, limits) => {
    const said = read(headers);
    expect(said.limits).toMatchObject(limits);
    expect(said.limits).toHaveLength(limits.length);
    expect(said.ignored).toEqual([]);
  });

  test.each<[Record<string, string>, string]>([
    [{ 'x-ratelimit-remaining': '-1', 'x-ratelimit-reset': '9' }, 'X-RateLimit-Remaining: not a whole number'],
    [{ 'x-ratelimit-remaining': 'unlimited' }, 'X-RateLimit-Remaining: not a whole number'],
    [{ 'x-ratelimit-remaining': '9'.repeat(400) }, 'X-RateLimit-Remaining: not a whole number'],
    [{ ratelimit: '"burst";t=10' }, 'RateLimit: without a number of remaining requests'],
    [{ ratelimit: '"burst";r=1.5;t=10' }, 'RateLimit: without a number of remaining requests'],
    [{ ratelimit: '"burst";r=1;t=-10' }, 'RateLimit: not a time'],
    [{ ratelimit: '"burst";r=1;t=99999999' }, 'RateLimit: more than a day away'],
    [{ ratelimit: `"${'x'.repeat(2000)}";r=1;t=1` }, 'RateLimit: too long'],
    [{ 'ratelimit-policy': '"burst";w=10' }, 'RateLimit-Policy: without a quota'],
  ])('%j is ignored: %s', (headers, ignored) => {
    expect(read(headers)).toEqual({ limits: [], ignored: [ignored] });
  });
});

test('whatever the headers say, limits are few, positive and within an hour, and no text of theirs is passed on', () => {
  const number = fc.oneof(fc.integer().map(String), fc.bigInt().map(String), fc.double().map(String), fc.constant(''));
  const text = fc.oneof(
    number,
    fc.string({ unit: fc.constantFrom(...Array.from('";,=\\ :rtqw0159-.TZ\tü')), maxLength: 200 }),
    fc.date({ noInvalidDate: true }).map((at) => at.toISOString()),
    fc.array(fc.tuple(fc.string(), number, number)).map((all) => all.map(([a, r, t]) => `"${a}";r=${r};t=${t}`).join()),
  );
  const name = fc.constantFrom(
    'date',
    'ratelimit',
    'ratelimit-policy',
    ...['ratelimit', 'x-ratelimit', 'x-rate-limit'].flatMap((prefix) =>
      ['limit', 'remaining', 'reset', 'window'].map((part) => `${prefix}-${part}`),
    ),
  );
  fc.assert(
    fc.property(fc.dictionary(name, text), (headers) => {
      const { limits, ignored } = rateLimitsOf(headers, nowMs);
      expect(limits.length).toBeLessThanOrEqual(8);
      expect(new Set(limits.map((limit) => limit.name)).size).toBe(limits.length);
      for (const { name, remaining, resetMs } of limits) {
        expect(name).toMatch(/^(?:RateLimit|X-RateLimit|X-Rate-Limit) (?:\?|\d+(?:\/(?:\?|\d+))?)$/);
        expect(Number.isSafeInteger(remaining) && remaining >= 0).toBe(true);
        expect(Number.isSafeInteger(resetMs) && resetMs >= 1 && resetMs <= 3_600_000).toBe(true);
      }
      for (const each of ignored) expect(each).toMatch(/^(?:X-)?Rate-?Limit(?:-[A-Z][a-z]+)?: [a-z ]+$/);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['quotes', '"'],
  ['escapes', String.raw`"\"`],
  ['separators', ';,='],
  ['names', '"a'],
])('a header full of %s is read at once', (_, part) => {
  const header = part.repeat(Math.floor(1024 / part.length));
  expect(read({ ratelimit: header, 'ratelimit-policy': header }).limits).toEqual([]);
});
