import { expect, test } from 'vitest';
import { attemptOf } from '../../../packages/sandbox/src/webhooks/webhooks.ts';

const failed = { status: 500, error: 'The address answered with status 500.' };

test.each([
  [1, 5_000],
  [2, 30_000],
  [3, 120_000],
  [4, 600_000],
  [5, 3_600_000],
])('after failed attempt %i the next one is in %i ms', (number, waitMs) => {
  expect(attemptOf(failed, number, 1000)).toEqual({ ...failed, dueAtMs: 1000 + waitMs, deliveredAtMs: null });
});

test('after the sixth it is given up', () => {
  expect(attemptOf(failed, 6, 1000)).toMatchObject({ dueAtMs: null, deliveredAtMs: null });
});

test('a success ends it', () => {
  expect(attemptOf({ status: 204, error: null }, 3, 1000)).toEqual({
    status: 204,
    error: null,
    dueAtMs: null,
    deliveredAtMs: 1000,
  });
});
