import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { newSecret, signatureHeaders, signatureOf } from '../../../packages/sandbox/src/webhooks/post.ts';

test('signs as Standard Webhooks do: the example of their libraries', () => {
  const signed = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestampS: 1_614_265_330, body: '{"test": 2432232314}' };
  expect(signatureOf(signed, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});

test('each secret is another, with 24 random bytes', () => {
  const secrets = [newSecret(), newSecret()];
  expect(new Set(secrets).size).toBe(2);
  for (const secret of secrets) expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
});

test.each([
  ['github', { 'X-Hub-Signature-256': `sha256=${hex('{}')}` }],
  ['bunny', { 'X-BunnyStream-Signature': hex('{}') }],
  ['mux', { 'Mux-Signature': `t=7,v1=${hex('7.{}')}` }],
  ['cloudflare', { 'Webhook-Signature': `time=7,sig1=${hex('7.{}')}` }],
  ['unsigned', {}],
] as const)('signs as %s does, with the text of the secret', (form, headers) => {
  expect(signatureHeaders({ id: 'msg_1', timestampS: 7, body: '{}' }, 'whsec_AAAA', form)).toEqual(headers);
});

function hex(text: string): string {
  return createHmac('sha256', 'whsec_AAAA').update(text).digest('hex');
}
