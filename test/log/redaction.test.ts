import { assert, pre, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSecretKey, SecretValues } from '../../src/log/redaction.ts';

const withSecret = (value: string) => {
  const secrets = new SecretValues();
  secrets.add(value);
  return secrets;
};

describe('a registered value', () => {
  const value = 'sk/live+"7!é~key';
  const secrets = withSecret(value);

  test.each([
    ['as it is', value],
    ['percent-encoded', encodeURIComponent(value)],
    ['percent-encoded in lower case', encodeURIComponent(value).toLowerCase()],
    ['form-encoded', new URLSearchParams({ k: value }).toString().slice(2)],
    ['JSON-escaped', JSON.stringify(value).slice(1, -1)],
  ])('%s is taken out', (_, form) => {
    const line = secrets.redactText(`before ${form} after`);
    expect(line).toContain('[redacted]');
    expect(line).not.toContain(form);
  });

  test.each(['', 'u', 'us', 'user:'])(
    'in base64 and base64url after "%s" is taken out but for the characters it shares',
    (name) => {
      for (const encoding of ['base64', 'base64url'] as const) {
        const text = Buffer.from(`${name}${value}!`).toString(encoding);
        const [before = '', after = text] = secrets.redactText(text).split('[redacted]');
        expect(before.length).toBeLessThanOrEqual(Math.ceil((name.length * 8) / 6));
        expect(after.length).toBeLessThanOrEqual(4);
      }
    },
  );

  test('of any text is taken out of any surroundings, plain, encoded and inside a finished JSON line', () => {
    assert(
      property(string({ minLength: 6, unit: 'grapheme' }), string(), string(), (secret, before, after) => {
        pre(!`[redacted]${before}${after}`.includes(secret));
        const any = withSecret(secret);
        const line = any.redactLine(JSON.stringify({ m: any.redactText(before + secret + after) }));
        expect(String(Reflect.get(JSON.parse(line) as object, 'm') ?? '')).not.toContain(secret);
        expect(any.redactText(before + encodeURIComponent(secret.toWellFormed()) + after)).toContain('[redacted]');
      }),
      { numRuns: 200 },
    );
  });

  test('is taken out of a finished line too, whose quotes stay', () => {
    expect(withSecret('hunter22').redactLine('{"a":"hunter22"}')).toBe('{"a":"[redacted]"}');
    expect(withSecret('","b').redactLine('{"a":"1","b":"2"}')).toBe('{"a":"1","b":"2"}');
  });

  test('under 4 characters would blank out ordinary words and is ignored', () => {
    expect(withSecret('ok').redactText('ok, looks good')).toBe('ok, looks good');
  });
});

describe('unregistered secrets', () => {
  const secrets = new SecretValues();

  test.each([
    ['PUT https://up.example/v/1?X-Amz-Signature=abc&x=1 failed', 'PUT https://up.example/v/1?[redacted] failed'],
    ['at https://h/p?anything', 'at https://h/p?[redacted]'],
    ['"https://h/p?a=b"', '"https://h/p?[redacted]"'],
    ['https://h/cb#access_token=abc', 'https://h/cb#[redacted]'],
    ['https://user:pass@h/p', 'https://[redacted]@h/p'],
    ['https://user:p@ss@h/p@1', 'https://[redacted]@h/p@1'],
    ['next=https%3A%2F%2Fh%2Fp%3Fsig%3Dabc', 'next=https%3A%2F%2Fh%2Fp%3F[redacted]'],
    ['/u/1?part=2&sig=abc&x=1', '/u/1?part=2&[redacted]'],
    ['?X-Amz-Credential=AKIA', '?[redacted]'],
    ['?token=abc', '?[redacted]'],
    ['?access_token=abc', '?[redacted]'],
    ['?expires=1&key=abc', '?[redacted]'],
    ['got Bearer abc.def-123', 'got Bearer [redacted]'],
    ['bearer%20abc', 'bearer%20[redacted]'],
    ['authorization: Basic dXNlcg==', 'authorization: [redacted]'],
    [String.raw`{"x-api-key":"abc","a":1}`, String.raw`{"x-api-key":"[redacted]","a":1}`],
    ['cookie: a=b; c=d', 'cookie: [redacted]'],
  ])('%s', (text, redacted) => {
    expect(secrets.redactText(text)).toBe(redacted);
    expect(secrets.redactText(redacted)).toBe(redacted);
  });

  test('an address without a query, a file name and a plain sentence stay readable', () => {
    const text = 'GET https://api.example/v1/videos/vid_1 answered 404 for "What? & why = key.mp4"';
    expect(secrets.redactText(text)).toBe(text);
  });

  test('a finished JSON line is still the same JSON', () => {
    const line = JSON.stringify({ a: 'https://h/p?x"quoted"', b: 'Bearer ab\\c"', c: '?sig=a\n"b"' });
    expect(() => JSON.parse(secrets.redactLine(line)) as unknown).not.toThrow();
  });

  // Linear cost takes milliseconds; quadratic cost would run for minutes, into the time limit of the test.
  test('a long hostile text is redacted in linear time', () => {
    for (const part of ['http://', 'Bearer ', '?key=', 'authorization: ', 'x-amz-', 'a'])
      expect(secrets.redactText(part.repeat(50_000))).not.toBe('');
  });
});

test('fields are known to be secret by their name', () => {
  const names = [
    'Authorization',
    'set-cookie',
    'x-api-key',
    'apiKey',
    'accessToken',
    'client_secret',
    'password',
    'upload_url',
    'uploadUrl',
  ];
  expect(names.filter((name) => !isSecretKey(name))).toEqual([]);
  expect(['file', 'path', 'key', 'state', 'url', 'status'].filter((name) => isSecretKey(name))).toEqual([]);
});
