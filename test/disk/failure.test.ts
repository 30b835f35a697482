import { describe, expect, test } from 'vitest';

import * as errors from '@dropcast/client';
import { installedService } from '../../src/config/installed-service.ts';
import type { InstalledService } from '../../src/config/installed-service.ts';
import { failureOfFile, toDiskFailure } from '../../src/disk/failure.ts';
import { stopped } from '../../src/pipeline/file/failure.ts';

test.each([
  [new errors.FileChangedError('m', { code: 'c' }), { kind: 'changed' }],
  [new errors.FileVanishedError('m', { code: 'c' }), { kind: 'vanished' }],
  [new errors.FileUnreadableError('m', { code: 'EACCES' }), { kind: 'permanent', code: 'unreadable' }],
  [new errors.FileUnreadableError('m', { code: 'EIO' }), { kind: 'transient' }],
  [new errors.FileUnreadableError('m', { code: 'EMFILE' }), { kind: 'suspended' }],
  [new errors.FileUnreadableError('m', { code: 'outside_folder' }), { kind: 'permanent' }],
  [new errors.FileUnreadableError('m', { code: 'ESTALE' }), { kind: 'transient' }],
])('the failure class of %s is as in the table of the design', (error, expected) => {
  expect(failureOfFile(error)).toMatchObject(expected);
  expect(toDiskFailure(error, null)).toMatchObject(expected);
});

test('an error from elsewhere says nothing about the file', () => {
  const ofReceipts = Object.assign(new Error('ENOENT'), { code: 'ENOENT', syscall: 'open' });
  expect(failureOfFile(ofReceipts)).toBeNull();
});

describe('a file of a watched folder', () => {
  const refused = (code: string): Error => Object.assign(new Error(`${code}: no`), { code, syscall: 'link' });

  test.each([
    ['ENOENT', 'vanished'],
    ['ENOTDIR', 'vanished'],
    ['ESTALE', 'transient'],
    ['EACCES', 'transient'],
    ['EIO', 'transient'],
    ['ENOSPC', 'suspended'],
    ['EROFS', 'suspended'],
    ['EDQUOT', 'suspended'],
  ])('%s is %s', (code, kind) => {
    expect(toDiskFailure(refused(code), null)).toMatchObject({ kind, code });
  });

  test('a read-only folder is reported with the fix for this service, and without one where no service is installed', () => {
    const told = (service: InstalledService | null): string => toDiskFailure(refused('EROFS'), service).message;
    expect(told(installedService(null))).toContain('`sudo dropcast setup`, then `sudo systemctl restart dropcast`');
    expect(told(installedService('news'))).toContain(
      '`sudo dropcast setup --instance news`, then `sudo systemctl restart dropcast@news`',
    );
    expect(told(null)).toMatch(/read-only \(EROFS\)(?!.*(?:systemctl|drop-in|sudo))/);
  });

  test('what no system call threw is described as usual', () => {
    expect(toDiskFailure(new errors.FileVanishedError('m', { code: 'ENOENT' }), null).kind).toBe('vanished');
    expect(toDiskFailure(new errors.AbortedError('m'), null)).toBe(stopped);
  });

  test.each([
    [Object.assign(new TypeError('m'), { code: 'ERR_INVALID_ARG_TYPE' }), 'ERR_INVALID_ARG_TYPE', 'm'],
    [new Error('the directory is full of such names'), 'Error', 'the directory is full of such names'],
    ['text', 'unknown', 'something other than an error was thrown'],
  ])('%s is a bug with the code %s', (error, code, message) => {
    expect(toDiskFailure(error, null)).toEqual({ kind: 'bug', code, message });
  });
});
