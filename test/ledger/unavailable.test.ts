import { describe, expect, test } from 'vitest';
import { translated } from '../../src/ledger/ledger-error.ts';
import { failureOfMachine } from '../../src/pipeline/file/failure.ts';
import { LedgerUnavailableError } from '../../src/pipeline/file/store-errors.ts';

const coded = (fields: object): Error => Object.assign(new Error('as the machine says it'), fields);

describe('at the border of the ledger', () => {
  test.each([
    [5, 'busy'],
    [7, 'out of memory'],
    [8, 'read-only'],
    [10, 'disk failing'],
    [10 | (4 << 8), 'disk failing'],
    [11, 'damaged'],
    [13, 'disk full'],
    [14, 'cannot open'],
    [26, 'damaged'],
  ])('result code %i of SQLite means: %s', (errcode, reason) => {
    const error = coded({ code: 'ERR_SQLITE_ERROR', errcode });
    expect(translated(error, null)).toBeInstanceOf(LedgerUnavailableError);
    expect(translated(error, null)).toMatchObject({ reason, cause: error });
  });

  test.each([
    ['ENOSPC', 'disk full'],
    ['EDQUOT', 'disk full'],
    ['EROFS', 'read-only'],
    ['EIO', 'disk failing'],
  ])('%s of a file next to it means: %s', (code, reason) => {
    expect(translated(coded({ code }), null)).toMatchObject({ name: 'LedgerUnavailableError', reason });
  });

  test('a full disk is named, with the command that shows it', () => {
    expect(translated(coded({ code: 'ENOSPC' }), '/var/lib/dropcast/ledger.db')).toMatchObject({
      message:
        "the disk of /var/lib/dropcast is full: free some space (`df -h '/var/lib/dropcast'`); dropcast resumes within half a minute",
    });
  });

  test('a used-up quota, for which Node has no name, means: disk full', () => {
    const error = coded({ code: 'Unknown system error -122', errno: -122 });
    expect(translated(error, null)).toMatchObject({ name: 'LedgerUnavailableError', reason: 'disk full' });
    expect(failureOfMachine(error)).toMatchObject({ kind: 'suspended', code: 'EDQUOT' });
  });

  test.each([
    ['a wrong statement', coded({ code: 'ERR_SQLITE_ERROR', errcode: 1 })],
    ['a broken constraint', coded({ code: 'ERR_SQLITE_ERROR', errcode: 2067 })],
    ['another errno', coded({ code: 'EISDIR' })],
    ['a mistake of ours', new TypeError('x is not a function')],
    ['no error at all', 'text'],
    ['what is translated already', new LedgerUnavailableError('busy')],
  ])('%s passes unchanged', (_name, error) => {
    expect(translated(error, null)).toBe(error);
  });
});
