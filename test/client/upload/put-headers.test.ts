import { expect, test } from 'vitest';
import { AddressDeadError, UploadRejectedError } from '../../../packages/client/src/errors.ts';
import { checkHeaders, headersOf, isSignatureMismatch } from '../../../packages/client/src/upload/put-headers.ts';
import type { HeaderChoice } from '../../../packages/client/src/upload/put-headers.ts';

const choice = (given: Partial<HeaderChoice> = {}): HeaderChoice => ({
  name: 'clip.mp4',
  asked: {},
  own: {},
  contentType: undefined,
  ...given,
});
const refused = (message: string, status = 403) =>
  new AddressDeadError(`the upload address answered ${status} forbidden: ${message}`, { status, code: 'forbidden' });

test.each<[string, Partial<HeaderChoice>, object]>([
  ['by the extension', {}, { 'content-type': 'video/mp4' }],
  ['as the answer asks', { asked: { 'content-type': 'x/y', 'x-a': '1' } }, { 'content-type': 'x/y', 'x-a': '1' }],
  [
    'as the caller says',
    { asked: { 'content-type': 'x/y' }, own: { 'Content-Type': 'a/b' } },
    { 'content-type': 'a/b' },
  ],
  ['a fixed one', { asked: { 'content-type': 'x/y' }, contentType: 'a/b' }, { 'content-type': 'a/b' }],
  ['none', { asked: { 'content-type': 'x/y', 'x-a': '1' }, contentType: null }, { 'x-a': '1' }],
  [
    'and a header of the caller in place of one of the answer',
    { asked: { 'x-a': '1' }, own: { 'X-A': '2' } },
    { 'content-type': 'video/mp4', 'x-a': '2' },
  ],
])('the content type: %s', (_, given, headers) => {
  expect(headersOf(choice(given), true)).toEqual(headers);
});

test.each([
  [refused('Invalid signature'), true],
  [refused('AuthenticationFailed: signature did not match', 401), true],
  [new UploadRejectedError('the upload address answered 400: bad signature', { status: 400, code: 'x' }), true],
  [refused('The signature has expired'), false],
  [refused('Request has expired'), false],
  [refused('AccessDenied'), false],
  [refused('signature', 404), false],
  [refused('signature', 503), false],
  [new Error('signature'), false],
  [undefined, false],
])('%s is a mismatch: %s', (error, isOne) => {
  expect(isSignatureMismatch(error)).toBe(isOne);
});

test('a header that no upload may carry is refused by name, without its value', () => {
  expect(() => checkHeaders({ Host: 's3cret' })).toThrow('headers: an upload cannot carry "Host"');
  expect(() => checkHeaders({ 'x-a': 's3cret\n' })).toThrow(
    /^headers: "x-a" contains a character that no header may have$/,
  );
  expect(() => checkHeaders({ 'x-a': 'fine' })).not.toThrow();
});
