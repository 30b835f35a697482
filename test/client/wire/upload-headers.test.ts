import { expect, test } from 'vitest';
import { maySend, uploadHeadersOf } from '../../../packages/client/src/wire/upload-headers.ts';
import { isOfConnection } from '../../../src/config/schema.ts';

const signed = { 'Content-Type': 'video/mp4', 'x-amz-meta-id': '7' };
const read = { 'content-type': 'video/mp4', 'x-amz-meta-id': '7' };

test.each(['headers', 'upload_headers', 'required_headers', 'uploadHeaders', 'requiredHeaders'])(
  'headers of the field %s are read, as an object and as a list',
  (field) => {
    expect(uploadHeadersOf({ id: 'vid_1', [field]: signed })).toEqual(read);
    const pairs = Object.entries(signed);
    expect(uploadHeadersOf({ [field]: pairs.map(([name, value]) => ({ name, value })) })).toEqual(read);
    expect(uploadHeadersOf({ [field]: pairs.map(([key, value]) => ({ key, value })) })).toEqual(read);
  },
);

test('several fields count together; of one name the first', () => {
  const answer = { upload_headers: { 'X-A': '1' }, headers: { 'x-a': '2', 'X-B': '3' } };
  expect(uploadHeadersOf(answer)).toEqual({ 'x-a': '1', 'x-b': '3' });
});

const ofConnection = [
  'Host',
  'content-length',
  'Transfer-Encoding',
  'Connection',
  'Keep-Alive',
  'TE',
  'Trailer',
  'Upgrade',
  'Expect',
  'Cookie',
  'Proxy-Authorization',
  'proxy-anything',
  '__proto__',
];

test.each([...ofConnection, '', 'two words', 'a:b', 'x\r\ny', 'ü', 'x'.repeat(101)])('%j is left out', (name) => {
  const headers = Object.fromEntries([
    [name, 'x'],
    ['x-other', 'y'],
  ]);
  expect(uploadHeadersOf({ headers })).toEqual({ 'x-other': 'y' });
  expect(uploadHeadersOf({ headers: [{ name, value: 'x' }] })).toEqual({});
});

test('the configuration refuses the same names as the client', () => {
  for (const name of [...ofConnection, 'authorization', 'content-type', 'x-host', 'cookies', 'proxy', 'hosts'])
    expect([name, isOfConnection(name)]).toEqual([name, !maySend(name.toLowerCase())]);
});

test.each([['a\r\nx-evil: 1'], ['tab\there'], ['ü'], ['x'.repeat(16_385)], [7], [null], [{}], [['a']]])(
  'a value like %j is left out',
  (value) => expect(uploadHeadersOf({ headers: { 'x-a': value, 'x-b': '' } })).toEqual({ 'x-b': '' }),
);

test.each([[null], ['text'], [7], [[]], [[null, 7, 'x', {}, { name: 7, value: 'x' }]], [{}]])(
  'a field that is %j has no headers',
  (headers) => expect(uploadHeadersOf({ headers })).toEqual({}),
);

test('values of 16,384 characters count together; a longer one is left out, and a shorter one after it is not', () => {
  const headers = { 'x-a': 'x'.repeat(16_000), 'x-b': 'y'.repeat(385), 'x-c': 'z'.repeat(384) };
  expect(Object.keys(uploadHeadersOf({ headers }))).toEqual(['x-a', 'x-c']);
});

test('the first 32 count, however many there are', () => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`x-${n}`, String(n)]));
  const found = Object.keys(uploadHeadersOf({ headers: many }));
  expect(found).toEqual(Array.from({ length: 32 }, (_, n) => `x-${n}`));
});
