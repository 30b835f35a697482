import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Masking } from '../../../packages/sandbox/src/inspector/details.ts';

const masking = new Masking(['the-admin-token', 'a/b+c=d', 'short']);

test.each([
  [
    '{"upload_url":"http://127.0.0.1:1/uploads/vid_x/abc123","status":"pending"}',
    '{"upload_url":"http://127.0.0.1:1/uploads/vid_x/[token]","status":"pending"}',
  ],
  [
    String.raw`"http:\/\/127.0.0.1:1\/uploads\/vid_x\/abc"`,
    String.raw`"http:\/\/127.0.0.1:1\/uploads\/vid_x\/[token]"`,
  ],
  ['/v1/uploads/vid_x/abc?x=1', '/v1/uploads/vid_x/[token]?x=1'],
  ['next=%2Fuploads%2Fvid_x%2Fabc', 'next=%2Fuploads%2Fvid_x%2F[token]'],
  ['/uploads/vid_x/[token]', '/uploads/vid_x/[token]'],
  ['/uploads/vid_x', '/uploads/vid_x'],
  ['my key is sk_sandbox_57bcjgd20fqtvtgpzy57k681vvt97met.', 'my key is sk_sandbox_[key].'],
  ['sk_live_0123456789', 'sk_live_[key]'],
  ['whsec_ab+/cd==', 'whsec_[secret]'],
  ['Authorization: Bearer abcdefghijklmnop', 'Authorization: Bearer [key]'],
  ['the bearer of news', 'the bearer of news'],
  ['a the-admin-token b', 'a [secret] b'],
  ['a%2Fb%2Bc%3Dd', '[secret]'],
  ['a short title', 'a short title'],
  [String.raw`{"api_key": "a\"b", "title": "x"}`, '{"api_key": "[masked]", "title": "x"}'],
  ['{"next_page": "x", "title": "token"}', '{"next_page": "x", "title": "token"}'],
])('%s is shown as %s', (text, shown) => {
  expect(masking.text(text)).toBe(shown);
});

test.each([
  ['page=2&token=x&per_page=3', 'page=2&token=[masked]&per_page=3'],
  ['api_key=x', 'api_key=[masked]'],
  ['x=1&access_token=y#z', 'x=1&access_token=[masked]#z'],
  ['video_id=vid_x', 'video_id=vid_x'],
])('the query %s is shown as %s', (query, shown) => {
  expect(masking.query(query)).toBe(shown);
});

test.each([
  ['authorization', 'Bearer abc', 'Bearer [masked]'],
  ['authorization', 'Basic dXNlcjpwYXNz', 'Basic [masked]'],
  ['authorization', 'abc', '[masked]'],
  ['cookie', 'a=b', '[masked]'],
  ['set-cookie', 'a=b', '[masked]'],
  ['x-api-key', 'a', '[masked]'],
  ['idempotency-key', 'abc', 'abc'],
  ['referer', 'http://x/?token=the-admin-token', 'http://x/?token=[secret]'],
])('the header %s: %s is shown as %s', (name, value, shown) => {
  expect(masking.header(name, value)).toBe(shown);
});

test('a secret that a cut goes through is hidden too', () => {
  expect(masking.text('so it is the-adm', true)).toBe('so it is [secret]');
  expect(masking.text('so it is the-adm')).toBe('so it is the-adm');
});

test('JSON stays JSON, whatever is masked in it', () => {
  const secret = fc.constantFrom(
    'the-admin-token',
    'sk_sandbox_abcdefgh',
    'whsec_abcdef',
    '/uploads/v/t',
    'Bearer 0123456789abcdef',
  );
  const text = fc.tuple(fc.string(), secret, fc.string()).map((parts) => parts.join(''));
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.integer(),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(fc.oneof(text, fc.constant('token')), tie('any'), { maxKeys: 3 }),
    ),
  })).any;
  fc.assert(
    fc.property(value, (given) => {
      const shown = masking.text(JSON.stringify(given));
      JSON.parse(shown);
      for (const hidden of ['the-admin-token', 'sk_sandbox_abcdefgh', 'whsec_abcdef'])
        expect(shown).not.toContain(hidden);
    }),
  );
});

test.each([
  `"${'token'.repeat(200_000)}`,
  '/uploads/'.repeat(100_000),
  `"${'a'.repeat(1_000_000)}`,
  'bearer '.repeat(100_000),
  '\\'.repeat(1_000_000),
])('no text takes long (%.20s…)', { timeout: 20_000 }, (text) => {
  masking.query(text);
});
