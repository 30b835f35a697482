import { describe, expect, test } from 'vitest';
import { AddressDeadError, UploadRejectedError } from '../../../packages/client/src/errors.ts';
import { checkHeaders, PutHeaders } from '../../../packages/client/src/upload/put-headers.ts';
import type { HeaderChoice } from '../../../packages/client/src/upload/put-headers.ts';

const host = 'https://up.example';
const choice = (given: Partial<HeaderChoice> = {}): HeaderChoice => ({
  name: 'clip.mp4',
  asked: {},
  own: {},
  contentType: undefined,
  ...given,
});
const refused = (message: string, status = 403) =>
  new AddressDeadError(`the upload address answered ${status} forbidden: ${message}`, { status, code: 'forbidden' });
const mismatch = refused('SignatureDoesNotMatch The request signature we calculated does not match');

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
  expect(new PutHeaders().headersFor(host, choice(given))).toEqual(headers);
});

describe('after a signature mismatch', () => {
  const usual = { 'content-type': 'video/mp4' };

  test('the other kind is tried once, and kept once the host has accepted it', () => {
    const known = new PutHeaders();
    expect(known.mayTryOthers(host, choice(), usual, mismatch)).toBe(true);
    expect(known.headersFor(host, choice())).toEqual({});
    known.took(host, choice(), {});
    expect(known.headersFor(host, choice({ name: 'b.mov' }))).toEqual({});
    expect(known.mayTryOthers(host, choice(), {}, mismatch)).toBe(false);
    expect(known.headersFor(host, choice())).toEqual({});
    expect(known.headersFor('https://other.example', choice())).toEqual(usual);
  });

  test('a host that refuses both kinds gets the usual one from then on, and no second try', () => {
    const known = new PutHeaders();
    expect(known.mayTryOthers(host, choice(), usual, mismatch)).toBe(true);
    expect(known.mayTryOthers(host, choice(), {}, mismatch)).toBe(false);
    expect(known.headersFor(host, choice())).toEqual(usual);
    expect(known.mayTryOthers(host, choice(), usual, mismatch)).toBe(false);
    expect(known.headersFor(host, choice())).toEqual(usual);
  });

  test('uploads that began together learn from each other, in whatever order they are refused and accepted', () => {
    const known = new PutHeaders();
    expect(known.mayTryOthers(host, choice(), usual, mismatch)).toBe(true);
    expect(known.mayTryOthers(host, choice(), usual, mismatch)).toBe(true);
    known.took(host, choice(), {});
    expect(known.mayTryOthers(host, choice(), usual, mismatch)).toBe(true);
    expect(known.headersFor(host, choice())).toEqual({});
  });

  test('nothing else is tried at a host that has accepted a file', () => {
    const known = new PutHeaders();
    known.took(host, choice(), usual);
    expect(known.mayTryOthers(host, choice(), usual, mismatch)).toBe(false);
    expect(known.headersFor(host, choice())).toEqual(usual);
  });

  test.each<[string, Partial<HeaderChoice>]>([
    ['the answer', { asked: { 'content-type': 'x/y' } }],
    ['the caller', { own: { 'Content-Type': 'x/y' } }],
    ['a fixed type', { contentType: 'x/y' }],
    ['none', { contentType: null }],
  ])('nothing is tried where %s decides, and nothing is learned', (_, given) => {
    const known = new PutHeaders();
    const headers = known.headersFor(host, choice(given));
    expect(known.mayTryOthers(host, choice(given), headers, mismatch)).toBe(false);
    known.took(host, choice(given), headers);
    expect(known.mayTryOthers(host, choice(), usual, mismatch)).toBe(true);
  });

  test('a service that has an origin for each file does not fill the memory', () => {
    const known = new PutHeaders();
    for (let n = 0; n < 2_500; n += 1) known.took(`https://${n}.example`, choice(), usual);
    expect(known.mayTryOthers('https://0.example', choice(), usual, mismatch)).toBe(true);
  });
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
  expect(new PutHeaders().mayTryOthers(host, choice(), { 'content-type': 'video/mp4' }, error)).toBe(isOne);
});

test('a header that no upload may carry is refused by name, without its value', () => {
  expect(() => checkHeaders({ Host: 's3cret' })).toThrow('headers: an upload cannot carry "Host"');
  expect(() => checkHeaders({ 'x-a': 's3cret\n' })).toThrow(
    /^headers: "x-a" contains a character that no header may have$/,
  );
  expect(() => checkHeaders({ 'x-a': 'fine' })).not.toThrow();
});
