import { describe, expect, test } from 'vitest';

import { mayHaveHappened, waitBeforeRetry } from '../../packages/client/src/retry.ts';
import {
  AbortedError,
  ConnectionError,
  ForbiddenError,
  NotFoundError,
  RateLimitedError,
  RedirectError,
  RejectedError,
  RequestTimeoutError,
  ServerError,
  UnauthorizedError,
  UnreadableAnswerError,
} from '../../packages/client/src/errors.ts';

const facts = { attempt: 1, isRepeatable: true, maxRetries: 2, maxRetryAfterMs: 60_000, random: 1 };

const neverSent = new ConnectionError(false, 'refused', { code: 'ECONNREFUSED' });
const broken = new ConnectionError(true, 'broke', { code: 'ECONNRESET' });
const tooSlow = new RequestTimeoutError(true, 'slow', { code: 'timeout' });
const neverConnected = new RequestTimeoutError(false, 'slow', { code: 'timeout' });
const limited = new RateLimitedError('no', { status: 429 });
const slowDown = new RejectedError('no', { status: 408 });
const failing = new ServerError('no', { status: 503 });

describe('a failed request', () => {
  test('with an idempotency key is repeated while the service still carries out an earlier one with it: 409', () => {
    const underWay = new RejectedError('no', { status: 409 });
    expect(waitBeforeRetry(underWay, { ...facts, isKeyed: true })).toBe(500);
    expect(waitBeforeRetry(underWay, { ...facts, isKeyed: true, attempt: 3 })).toBeNull();
    expect(waitBeforeRetry(underWay, facts)).toBeNull();
    expect(waitBeforeRetry(new RejectedError('no', { status: 422 }), { ...facts, isKeyed: true })).toBeNull();
  });

  test.each([
    ['a refused connection', neverSent, true, true],
    ['no connection in time', neverConnected, true, true],
    ['429', limited, true, true],
    ['a broken connection', broken, true, false],
    ['no answer in time', tooSlow, true, false],
    ['408', slowDown, true, false],
    ['500', new ServerError('no', { status: 500 }), true, false],
    ['503', failing, true, false],
    ['400', new RejectedError('no', { status: 400 }), false, false],
    ['401', new UnauthorizedError('no', { status: 401 }), false, false],
    ['403', new ForbiddenError('no', { status: 403 }), false, false],
    ['404', new NotFoundError('no', { status: 404 }), false, false],
    ['a redirect', new RedirectError('service', 'no', { status: 307 }), false, false],
    ['an unreadable answer', new UnreadableAnswerError('no', { status: 200 }), false, false],
    ['the caller', new AbortedError('it'), false, false],
    ['a defect', new TypeError('oops'), false, false],
  ])('by %s is sent again when it may be: %#', (_, error, repeatable, create) => {
    expect(waitBeforeRetry(error, facts) !== null).toBe(repeatable);
    expect(waitBeforeRetry(error, { ...facts, isRepeatable: false }) !== null).toBe(create);
  });

  test('waits longer each time, by chance, and never longer than 8 s', () => {
    const longest = [1, 2, 3, 4, 5, 6, 7].map((attempt) =>
      waitBeforeRetry(failing, { ...facts, maxRetries: 10, attempt }),
    );
    expect(longest).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000]);
    expect(waitBeforeRetry(failing, { ...facts, random: 0.5 })).toBe(250);
    expect(waitBeforeRetry(failing, { ...facts, random: 0 })).toBe(0);
  });

  test('is given up when the attempts are used up', () => {
    expect(waitBeforeRetry(failing, { ...facts, attempt: 2 })).not.toBeNull();
    expect(waitBeforeRetry(failing, { ...facts, attempt: 3 })).toBeNull();
    expect(waitBeforeRetry(failing, { ...facts, maxRetries: 0 })).toBeNull();
  });

  test.each([RateLimitedError, ServerError])('waits at least as long as the service asks, after %o', (Kind) => {
    const asking = (retryAfterMs: number) => new Kind('no', { status: 503, retryAfterMs });
    expect(waitBeforeRetry(asking(30_000), facts)).toBe(30_000);
    expect(waitBeforeRetry(asking(60_000), facts)).toBe(60_000);
    expect(waitBeforeRetry(asking(1000), { ...facts, attempt: 5, maxRetries: 9 })).toBe(8000);
    expect(waitBeforeRetry(asking(60_001), facts)).toBeNull();
  });
});

describe('a request that failed', () => {
  test.each([
    [neverSent, false],
    [neverConnected, false],
    [broken, true],
    [tooSlow, true],
    [slowDown, true],
    [failing, true],
    [limited, false],
    [new NotFoundError('no', { status: 404 }), false],
  ])('%s may have been carried out: %s', (error, expected) => {
    expect(mayHaveHappened(error)).toBe(expected);
  });
});
