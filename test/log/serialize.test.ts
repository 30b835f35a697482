import { expect, test } from 'vitest';
import { serialize } from '../../src/log/serialize.ts';

const plain = (value: unknown) =>
  serialize(value, { redact: (text) => text.replaceAll('hunter2', '*'), stacks: false });

test('values of every kind become plain data', () => {
  const values = {
    a: 1n,
    b: NaN,
    c: new Date(0),
    d: new Map([['x', 1]]),
    e: new Set([1]),
    f: new URL('https://h/p'),
    g: null,
  };
  expect(plain(values)).toEqual({
    a: '1',
    b: 'NaN',
    c: '1970-01-01T00:00:00.000Z',
    d: { x: 1 },
    e: [1],
    f: 'https://h/p',
    g: null,
  });
  expect(plain({ a: undefined, f: () => 1, s: Symbol('x'), b: Buffer.from('abc') })).toEqual({
    f: '[function]',
    s: '[symbol]',
    b: '[3 bytes]',
  });
});

test('an instance of a class is named, never walked', () => {
  class Options {
    readonly headers = { authorization: 'hunter2' };
  }
  expect(plain({ options: new Options() })).toEqual({ options: '[Options]' });
});

test('a secret object is never asked for its value', () => {
  const secret = {
    reveal() {
      throw new Error('asked');
    },
  };
  expect(plain({ a: secret, b: [secret] })).toEqual({ a: '[secret]', b: ['[secret]'] });
});

test('fields with telling names lose their value, except when it is a flag or nothing', () => {
  expect(plain({ apiKey: 'x', token: { a: 1 }, uploadUrl: null, password: true })).toEqual({
    apiKey: '[redacted]',
    token: '[redacted]',
    uploadUrl: null,
    password: true,
  });
});

test('an error keeps what is on the list and nothing else', () => {
  const cause = Object.assign(new TypeError('inner hunter2'), { code: 'ECONNRESET', request: { a: 1 } });
  const error = Object.assign(new Error('outer', { cause }), {
    status: 403,
    kind: 'permanent',
    options: {},
    timings: {},
    path: '/x',
  });
  expect(plain({ err: error })).toEqual({
    err: {
      name: 'Error',
      message: 'outer',
      status: 403,
      kind: 'permanent',
      cause: { name: 'TypeError', message: 'inner *', code: 'ECONNRESET' },
    },
  });
});

test('an error that lost its class is read by the same list', () => {
  const spread = {
    message: 'm',
    options: { headers: { 'x-upload-auth': 'abc' } },
    cause: { code: 'E', response: { a: 1 } },
  };
  expect(plain({ err: spread })).toEqual({ err: { message: 'm', cause: { code: 'E' } } });
});

test('the errors of an aggregate are listed', () => {
  const error = new AggregateError([new Error('v4'), new Error('v6')], '');
  expect(plain({ err: error })).toMatchObject({ err: { errors: [{ message: 'v4' }, { message: 'v6' }] } });
});

test('frames are given only when asked for, without the message', () => {
  const result = serialize(new Error('line one\n    at forged'), { redact: (text) => text, stacks: true });
  expect(JSON.stringify(result)).toContain('serialize.test.ts');
  expect(plain(new Error('x'))).not.toHaveProperty('stack');
});

test('cycles, depth, length and number are bounded', () => {
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  expect(plain(cycle)).toEqual({ self: '[circular]' });
  const wide = Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => 'x'.repeat(20_000)));
  expect(JSON.stringify(plain({ wide })).length).toBeLessThan(10_000_000);
  expect(plain(Array.from({ length: 51 }, () => 0))).toHaveLength(51);
  expect(plain('x'.repeat(9_000))).toHaveLength(8_193);
});

test('fields without a value do not count as omitted', () => {
  const entries = Array.from({ length: 60 }, (_, n) => [`k${n}`, n < 45 ? n : undefined] as const);
  expect(Object.keys(plain(Object.fromEntries(entries)) as object)).toHaveLength(45);
});

test('a value that throws when read becomes a word', () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const getter = {
    get broken(): string {
      throw new Error('no');
    },
  };
  expect(plain({ a: [proxy], b: getter })).toEqual({ a: ['[unreadable]'], b: '[unreadable]' });
});

test('a field called __proto__ is a field', () => {
  const fields: unknown = JSON.parse('{"__proto__":{"admin":true}}');
  expect(JSON.stringify(plain(fields))).toBe('{"__proto__":{"admin":true}}');
});
