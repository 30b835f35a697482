import { expect, test } from 'vitest';
import { newSecret, signatureOf } from '../../../packages/sandbox/src/webhooks/post.ts';

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
