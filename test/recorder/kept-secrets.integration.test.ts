import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { withoutSignature } from '../../packages/recorder/src/cleaning/hidden.ts';
import { KnownSecrets } from '../../packages/recorder/src/cleaning/known-secrets.ts';
import { startServer } from '../support/server.ts';
import { recorded } from './recorded.ts';

interface Asking {
  readonly query?: string;
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string;
}

interface Saying {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** JSON, or a text as it is. */
  readonly said?: unknown;
  readonly redact?: readonly string[];
}

/** What is in the file when a program asks a service once. */
async function fileOf(asking: Asking, { status = 200, headers = {}, said = {}, redact = [] }: Saying): Promise<string> {
  await using service = await startServer((request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof said === 'string' ? said : JSON.stringify(said));
  });
  const program = async ({ baseUrl }: { readonly baseUrl: string }): Promise<void> => {
    const { query = '', body = '', ...options } = asking;
    const request = httpRequest(`${baseUrl}/videos${query}`, { ...options, agent: false }).end(body);
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    await textOf(answer);
  };
  const { text, recording } = await recorded(`${service.origin}/v1`, program, { redact });
  expect(recording.exchanges).toHaveLength(1);
  return text;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const form = { 'content-type': 'application/x-www-form-urlencoded' };

describe('a secret that the service says back is not recorded', () => {
  test.each<[string, Asking, string]>([
    ['a key as a name without a password', { headers: { authorization: `Basic ${base64('hush-hush-1:')}` } }, '1'],
    ['a key as a name with a mock password', { headers: { authorization: `Basic ${base64('hush-hush-1:x')}` } }, '1'],
    ['the second of two keys', { headers: { authorization: ['Bearer first-key-1', 'Bearer hush-hush-1'] } }, '1'],
    ['the second of two headers', { headers: { 'x-api-key': ['first-key-1', 'hush-hush-1'] } }, '1'],
    ['a key with a name', { headers: { authorization: 'Token token="hush-hush-1"' } }, '1'],
    ['a cookie in quotes', { headers: { cookie: 's="hush-hush-1"' } }, '1'],
    ['a percent-encoded cookie', { headers: { cookie: 's=hush%2Dhush%2D1' } }, '1'],
    ['a parameter with a plus', { query: '?token=hush+hush+1' }, '+'],
    ['a field of a form with a plus', { method: 'POST', headers: form, body: 'token=hush+hush+1' }, '+'],
  ])('%s', async (_, asking, kind) => {
    expect(await fileOf(asking, { said: { said: kind === '+' ? 'hush+hush+1' : 'hush-hush-1' } })).not.toMatch(/hush/);
  });

  test('a number', async () => {
    expect(await fileOf({}, { said: { token: 77_777_777, other: 77_777_777 } })).not.toContain('77777777');
  });

  test.each<[string, unknown]>([
    ['an object', { 'Content-Type': 'video/mp4', 'x-blob': 'hush-hush-1' }],
    [
      'a list',
      [
        { name: 'x-blob', value: 'hush-hush-1' },
        { name: 'x-other', value: ['hush-hush-1'] },
      ],
    ],
    ['a text', 'x-blob: hush-hush-1'],
    ['an object in an object', { put: { 'x-blob': 'hush-hush-1' } }],
  ])('a header of an upload, in %s', async (_, headers) => {
    for (const field of ['upload_headers', 'required_headers', 'headers', 'uploadHeaders', 'requiredHeaders']) {
      const file = await fileOf({}, { said: { id: 'v', [field]: headers } });
      expect(file).not.toContain('hush');
      expect(file).toContain(field);
      if (typeof headers !== 'string') expect(file).toContain('x-blob');
    }
  });

  test.each([
    'https://127.0.0.1:1/hush%2Dhush%2D1234',
    'https://127.0.0.1:1/?sig=hush-hush-1234',
    'https://127.0.0.1:1/?token=hush-hush',
  ])('a part of the upload address %s', async (address) => {
    const said = { id: 'v', upload_url: address, parts: ['hush-hush-1234', 'hush-hush'] };
    const text = await fileOf({ method: 'POST' }, { said });
    expect(text).not.toContain(address.includes('token') ? '"hush-hush"' : 'hush-hush-1234');
  });
});

describe('an address is recorded without its query', () => {
  test.each<[string, Saying]>([
    ['of another scheme', { said: { ingest: 'rtmps://live.example/app?s=hush-hush-1' } }],
    ['without a scheme', { said: { embed: '//cdn.example/x?s=hush-hush-1' } }],
    [
      'with slashes that are escaped',
      { said: 'see "https:\\/\\/cdn.example\\/x?s=hush-hush-1"', headers: { 'content-type': 'text/plain' } },
    ],
    ['of a redirect to the same host', { status: 302, headers: { location: '/login?s=hush-hush-1' } }],
    ['of another page', { headers: { link: '</v1/videos?s=hush-hush-1>; rel="next"' } }],
    ['of this service, in a field', { said: { next: '/v1/videos?page=2&access_token=hush-hush-1' } }],
    ['that the upload address is part of', { said: { upload_url: { url: 'https://far.example/hush-hush-1' } } }],
  ])('%s', async (_, saying) => {
    expect(await fileOf({}, saying)).not.toMatch(/hush/);
  });

  test('that is a parameter', async () => {
    const address = encodeURIComponent('https://a.example/clip.mp4?s=hush-hush-1');
    expect(await fileOf({ query: `?source_url=${address}&page=1` }, {})).not.toMatch(/hush/);
  });
});

describe('a field that is named like a secret is not recorded', () => {
  test.each(['pwd', 'passphrase', 'jwt', 'private_key', 'signing_key', 'stream_key', 'clientKey', 'session_id'])(
    '%s',
    async (name) => {
      expect(await fileOf({}, { said: { [name]: 'hush-hush-1' } })).not.toMatch(/hush/);
    },
  );

  test.each([
    ['several lines of JSON', '{"token":"hush-hush-1"}\n{"a":{"pass\\u0077ord":"hush-hush-1"}}\n'],
    ['JSON behind other characters', ')]}\'\n{"token" : "hush-hush-1"}'],
    ['JSON that breaks off', '{"token":"hush-hush-1'],
    ['JSON that breaks off after an escape', '{"token":"hush\\"hush-1\\'],
  ])('in %s', async (_, said) => {
    expect(await fileOf({}, { said })).not.toMatch(/hush/);
  });
});

test.each([{ meta: { a: 'hush hush' } }, { meta: [{ a: { b: ['hush hush'] } }] }])(
  'what is redacted in %j is all of it',
  async (said) => {
    expect(await fileOf({}, { said, redact: ['meta'] })).not.toMatch(/hush/);
  },
);

test.each([
  ['a picture in base64url', `${'A'.repeat(63)}-`],
  ['dots', 'a.'],
  ['addresses', 'http://'],
  ['almost keys', 'sk_-'],
])('%s of 400 kB are searched once and not once for each character', (_, part) => {
  const text = part.repeat(400_000 / part.length);
  expect(new KnownSecrets().remove(withoutSignature(text))).toBe(text);
});
