import { describe, expect, test } from 'vitest';
import { failureOfThrown } from '../../../src/pipeline/file/failure.ts';

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
    [13, 'SQLITE_FULL', 'the disk of the state directory is full'],
    [10, 'SQLITE_IOERR', 'the disk of the state directory fails to read or write'],
    [1034, 'SQLITE_IOERR', 'the disk of the state directory fails to read or write'],
    [8, 'SQLITE_READONLY', 'the ledger in the state directory cannot be written to'],
    [14, 'SQLITE_CANTOPEN', 'the ledger or a file beside it in the state directory cannot be opened'],
    [7, 'SQLITE_NOMEM', 'there is no memory left for the ledger'],
  ])('is the disk under the ledger: result code %i of SQLite', (errcode, code, message) => {
    const error = coded('words of SQLite', { code: 'ERR_SQLITE_ERROR', errcode });
    expect(failureOfThrown(error)).toEqual({ kind: 'suspended', code, message });
  });

  test('is a mistake of ours when SQLite refuses a statement', () => {
    expect(failureOfThrown(coded('no such column', { code: 'ERR_SQLITE_ERROR', errcode: 1 })).kind).toBe('bug');
  });
});
