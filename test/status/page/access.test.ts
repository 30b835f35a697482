import { expect, test } from 'vitest';
import { createPageAccess } from '../../../src/status/page/access.ts';

test('a code opens the page once, and for five minutes at most', () => {
  let nowMs = 0;
  const access = createPageAccess('the-token', () => nowMs);
  const [first, second] = [access.makeCode('look'), access.makeCode('look')];
  expect(first).not.toBe(second);
  nowMs = 5 * 60_000 - 1;
  expect(access.redeem(first)).not.toBeNull();
  expect(access.redeem(first)).toBeNull();
  nowMs += 1;
  expect(access.redeem(second)).toBeNull();
});

test('of many unused links, the newest hundred work', () => {
  const access = createPageAccess('the-token');
  const codes = Array.from({ length: 101 }, () => access.makeCode('look'));
  expect(codes.map((code) => access.redeem(code) !== null)).toEqual(codes.map((_, index) => index > 0));
});

test.each(['look', 'change'] as const)(
  'however many links to %s are made, those with the other right work',
  (right) => {
    const access = createPageAccess('the-token');
    const other = right === 'look' ? 'change' : 'look';
    const code = access.makeCode(other);
    for (let n = 0; n < 1_000; n += 1) access.makeCode(right);
    expect(access.rightOf(null, access.redeem(code))).toBe(other);
  },
);

test('the cookie stays good after a restart, not after a new token', () => {
  const before = createPageAccess('the-token');
  const cookie = before.redeem(before.makeCode('look'));
  expect(createPageAccess('the-token').rightOf(null, cookie)).toBe('look');
  expect(createPageAccess('another-token').rightOf(null, cookie)).toBeNull();
});

test.each<[string | null, string | null, 'change' | null]>([
  ['Bearer the-token', null, 'change'],
  ['bearer  the-token', null, 'change'],
  ['Bearer the-toke', null, null],
  ['Bearer the-token2', null, null],
  ['Bearer', null, null],
  ['Bearer ', '', null],
  ['the-token', null, null],
  // A cookie that leaked to another port is not the token, and the other way round.
  [null, 'the-token', null],
  [null, null, null],
])('the header %j with the cookie %j gives the right: %s', (authorization, cookie, right) => {
  expect(createPageAccess('the-token').rightOf(authorization, cookie)).toBe(right);
});

test('the cookie is no bearer token', () => {
  const access = createPageAccess('the-token');
  expect(access.rightOf(`Bearer ${access.redeem(access.makeCode('change'))}`, null)).toBeNull();
});

test('a link opens a session with the right it was made for, and with no other', () => {
  const access = createPageAccess('the-token');
  const [look, change] = [access.redeem(access.makeCode('look')), access.redeem(access.makeCode('change'))];
  expect(access.rightOf(null, look)).toBe('look');
  expect(access.rightOf(null, change)).toBe('change');
});
