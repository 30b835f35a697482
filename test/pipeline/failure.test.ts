import { describe, expect, test } from 'vitest';
import { failureOfThrown } from '../../src/pipeline/failure.ts';

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

  test.each([
    coded('no space left on device', { code: 'ENOSPC' }),
    coded('too many open files', { code: 'EMFILE' }),
    coded('database or disk is full', { code: 'ERR_SQLITE_ERROR', errcode: 13 }),
    coded('disk I/O error', { code: 'ERR_SQLITE_ERROR', errcode: 1034 }),
  ])('is a machine at its limits, and no file pays for it: $message', (error) => {
    expect(failureOfThrown(error)).toMatchObject({ kind: 'suspended', message: error.message });
  });

  test('is a mistake of ours when SQLite refuses a statement', () => {
    expect(failureOfThrown(coded('no such column', { code: 'ERR_SQLITE_ERROR', errcode: 1 })).kind).toBe('bug');
  });
});
