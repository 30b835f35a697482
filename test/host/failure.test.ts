import { describe, expect, test } from 'vitest';

import { toFailure } from '../../src/host/failure.ts';
import { stopped } from '../../src/pipeline/file/failure.ts';
import * as errors from '../../packages/client/src/errors.ts';
import { LedgerUnavailableError } from '../../src/pipeline/file/store-errors.ts';

const facts = { status: 400, code: 'c' };

const table: readonly (readonly [unknown, object])[] = [
  [new errors.UnauthorizedError('m', { status: 401 }), { kind: 'suspended', status: 401 }],
  [new errors.PaymentRequiredError('m', { status: 402 }), { kind: 'suspended' }],
  [new errors.ForbiddenError('m', { status: 403 }), { kind: 'suspended' }],
  [new errors.RedirectError('service', 'm', { status: 302 }), { kind: 'suspended' }],
  [new errors.RedirectError('upload address', 'm', { status: 302 }), { kind: 'transient' }],
  [new errors.NotFoundError('m', { status: 404 }), { kind: 'gone' }],
  [new errors.RateLimitedError('m', { status: 429, retryAfterMs: 5000 }), { kind: 'throttled', retryAfterMs: 5000 }],
  [new errors.RateLimitedError('m', { retryAfterMs: 86_400_000 }), { kind: 'throttled', retryAfterMs: 3_600_000 }],
  [
    new errors.RateLimitedError('m', { code: 'daily_limit_reached', retryAfterMs: 50_000_000 }),
    { kind: 'throttled', retryAfterMs: 50_000_000 },
  ],
  [new errors.RejectedError('m', { status: 422 }), { kind: 'permanent' }],
  [new errors.RejectedError('m', { status: 408 }), { kind: 'transient', inDoubt: true }],
  [new errors.RejectedError('m', { status: 425 }), { kind: 'transient', inDoubt: true }],
  [new errors.ServerError('m', { status: 500 }), { kind: 'transient', inDoubt: true }],
  [new errors.UnreadableAnswerError('m', { status: 200 }), { kind: 'transient', inDoubt: true }],
  [new errors.ConnectionError(false, 'm', facts), { kind: 'offline' }],
  [new errors.ConnectionError(true, 'm', facts), { kind: 'transient', inDoubt: true }],
  [new errors.RequestTimeoutError(false, 'm', facts), { kind: 'offline' }],
  [new errors.RequestTimeoutError(true, 'm', facts), { kind: 'transient', inDoubt: true }],
  [new errors.AddressDeadError('m', facts), { kind: 'address dead' }],
  [new errors.UploadConflictError('m', facts), { kind: 'transient', inDoubt: true }],
  [new errors.UploadRejectedError('m', facts), { kind: 'permanent' }],
  [new errors.UploadServerError('m', facts), { kind: 'transient', inDoubt: true }],
  [new errors.UploadStalledError('m', facts), { kind: 'transient', inDoubt: true }],
  [new errors.UploadStalledError('m', { code: 'no_answer' }), { kind: 'transient', inDoubt: true, code: 'no_answer' }],
  [new errors.UnreadableAnswerError('m', { status: 200, code: 'web_page' }), { kind: 'transient', inDoubt: true }],
  [Object.assign(new Error('m'), { code: 'ENOSPC' }), { kind: 'suspended', code: 'ENOSPC' }],
  [
    new LedgerUnavailableError('disk full'),
    { kind: 'suspended', message: expect.stringMatching(/state directory.*full/) },
  ],
  [Object.assign(new Error('m'), { code: 'EAI_AGAIN' }), { kind: 'offline' }],
  [new errors.AbortedError('m'), stopped],
  // Thrown by the client library and its webhook verifier alone: the daemon has its own ways to wait and to be rung.
  [new errors.VideoFailedError('v', undefined), { kind: 'bug' }],
  [new errors.WaitTimeoutError('v', 1, undefined), { kind: 'bug' }],
  [new errors.WebhookSignatureError('m', { code: 'too_old' }), { kind: 'bug' }],
  [new TypeError('m'), { kind: 'bug', code: 'TypeError' }],
  // What was thrown may be anything, a signed address too: it is not repeated.
  ['text', { kind: 'bug', code: 'unknown', message: expect.not.stringContaining('text') }],
  [undefined, { kind: 'bug', code: 'unknown' }],
];

describe('the failure class', () => {
  test.each(table)('of %s is as in the table of the design', (error, expected) => {
    const failure = toFailure(error);
    expect(failure).toMatchObject(expected);
    if (!('inDoubt' in expected)) expect(failure.inDoubt).toBeUndefined();
  });

  test('is given for every class of error', () => {
    const told = new Set(table.map(([error]) => (error instanceof Error ? error.name : '')));
    // Those of files are the disk's to classify.
    const bases = new Set([
      'ServiceError',
      'UploadError',
      'FileChangedError',
      'FileUnreadableError',
      'FileVanishedError',
    ]);
    const classes = Object.keys(errors).filter((name) => name.endsWith('Error') && !bases.has(name));
    expect(classes.filter((name) => !told.has(name))).toEqual([]);
  });
});
