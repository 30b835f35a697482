import { expect, test } from 'vitest';
import { createPageAccess } from '../../src/status/page-access.ts';

test('a code opens the page once, and for five minutes at most', () => {
  let nowMs = 0;
  const access = createPageAccess('the-token', () => nowMs);
  const [first, second] = [access.makeCode(), access.makeCode()];
  expect(first).not.toBe(second);
  nowMs = 5 * 60_000 - 1;
  expect(access.redeem(first)).not.toBeNull();
  expect(access.redeem(first)).toBeNull();
  nowMs += 1;
  expect(access.redeem(second)).toBeNull();
});

test('of many links that nobody opens the newest hundred work', () => {
  const access = createPageAccess('the-token');
  const codes = Array.from({ length: 101 }, () => access.makeCode());
  expect(codes.map((code) => access.redeem(code) !== null)).toEqual(codes.map((_, index) => index > 0));
});

test('the cookie stays good after a restart, not after a new token', () => {
  const before = createPageAccess('the-token');
  const cookie = before.redeem(before.makeCode());
  expect(createPageAccess('the-token').isAllowed(null, cookie)).toBe(true);
  expect(createPageAccess('another-token').isAllowed(null, cookie)).toBe(false);
});

test.each<[string | null, string | null, boolean]>([
  ['Bearer the-token', null, true],
  ['bearer  the-token', null, true],
  ['Bearer the-toke', null, false],
  ['Bearer the-token2', null, false],
  ['Bearer', null, false],
  ['Bearer ', '', false],
  ['the-token', null, false],
  // A cookie that leaked to another port is not the token, and the other way round.
  [null, 'the-token', false],
  [null, null, false],
])('the header %j with the cookie %j is allowed: %s', (authorization, cookie, isAllowed) => {
  expect(createPageAccess('the-token').isAllowed(authorization, cookie)).toBe(isAllowed);
});

test('the cookie is no bearer token', () => {
  const access = createPageAccess('the-token');
  expect(access.isAllowed(`Bearer ${access.redeem(access.makeCode())}`, null)).toBe(false);
});
