import { describe, expect, test } from 'vitest';
import { failureOfThrown } from '../../../src/pipeline/file/failure.ts';
import { LedgerUnavailableError } from '../../../src/pipeline/file/store-errors.ts';

const coded = (message: string, fields: object): Error => Object.assign(new Error(message), fields);

describe('what was thrown', () => {
  test('is a mistake of ours', () => {
    expect(failureOfThrown(new TypeError('x is not a function'))).toEqual({
      kind: 'bug',
      code: 'bug',
      message: 'TypeError: x is not a function',
    });
    expect(failureOfThrown('boom')).toMatchObject({ kind: 'bug', message: 'boom' });
  });

  test.each(['ENOSPC', 'EMFILE', 'EIO', 'EROFS'])('is a machine at its limits, and no file pays for it: %s', (code) => {
    expect(failureOfThrown(coded(`${code}: no`, { code }))).toEqual({
      kind: 'suspended',
      code,
      message: `${code}: no`,
    });
  });

  test.each([
    ['disk full', 'SQLITE_FULL'],
    ['disk failing', 'SQLITE_IOERR'],
    ['read-only', 'SQLITE_READONLY'],
    ['cannot open', 'SQLITE_CANTOPEN'],
    ['out of memory', 'SQLITE_NOMEM'],
    ['damaged', 'SQLITE_CORRUPT'],
    ['busy', 'SQLITE_BUSY'],
  ] as const)('is a ledger that cannot be used, and no file pays for it: %s', (reason, code) => {
    const error = new LedgerUnavailableError(reason);
    expect(failureOfThrown(error)).toEqual({ kind: 'suspended', code, message: error.message });
  });
});
