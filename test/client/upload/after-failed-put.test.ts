import { describe, expect, test } from 'vitest';

import { afterFailedPut } from '../../../packages/client/src/upload/after-failed-put.ts';
import {
  AbortedError,
  AddressDeadError,
  ConnectionError,
  FileChangedError,
  FileUnreadableError,
  FileVanishedError,
  RedirectError,
  RequestTimeoutError,
  UnreadableAnswerError,
  UploadConflictError,
  UploadRejectedError,
  UploadServerError,
  UploadStalledError,
} from '../../../packages/client/src/errors.ts';

const facts = { attempt: 1, maxRetries: 2, maxRetryAfterMs: 60_000, random: 1, mayHaveArrived: false };
const again = { waitMs: 500, maySendAgain: true };
const onlyAsk = { waitMs: 500, maySendAgain: false };
const giveUp = null;

describe('after a PUT that failed by', () => {
  test.each([
    ['a broken connection', new ConnectionError(true, 'm', {}), again, onlyAsk],
    ['a refused connection', new ConnectionError(false, 'm', {}), again, onlyAsk],
    ['no connection in time', new RequestTimeoutError(false, 'm', {}), again, onlyAsk],
    ['503', new UploadServerError('m', { status: 503 }), again, onlyAsk],
    ['a stall', new UploadStalledError('m'), again, onlyAsk],
    ['409', new UploadConflictError('m', { status: 409 }), again, onlyAsk],
    ['an endless answer', new UnreadableAnswerError('m'), again, onlyAsk],
    ['a dead address', new AddressDeadError('m', { status: 403 }), giveUp, onlyAsk],
    ['a refusal', new UploadRejectedError('m', { status: 413 }), giveUp, giveUp],
    ['a redirect', new RedirectError('upload address', 'm', { status: 307 }), giveUp, giveUp],
    ['a changed file', new FileChangedError('m'), giveUp, giveUp],
    ['a vanished file', new FileVanishedError('m'), giveUp, giveUp],
    ['an unreadable file', new FileUnreadableError('m'), giveUp, giveUp],
    ['the caller', new AbortedError('it'), giveUp, giveUp],
    ['a defect', new Error('oops'), giveUp, giveUp],
  ])('%s', (_, error, first, lastWithWholeBody) => {
    expect(afterFailedPut(error, facts)).toEqual(first);
    const last = { ...facts, maxRetries: 0 };
    expect(afterFailedPut(error, last)).toEqual(giveUp);
    expect(afterFailedPut(error, { ...last, mayHaveArrived: true })).toEqual(lastWithWholeBody);
  });

  test('after 503 with a wait that is too long, no request is sent', () => {
    const busy = (retryAfterMs: number) => new UploadServerError('m', { status: 503, retryAfterMs });
    expect(afterFailedPut(busy(60_000), facts)).toEqual({ ...again, waitMs: 60_000 });
    expect(afterFailedPut(busy(60_001), facts)).toEqual(giveUp);
  });
});
