import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { admitWebhook } from '../../src/host/admit-webhook.ts';

const nowMs = Date.UTC(2026, 0, 1);
const key = Buffer.from('a secret of the webhook');
const secret = { reveal: () => `whsec_${key.toString('base64')}` };

function webhook(body: string, atMs = nowMs) {
  const timestamp = Math.floor(atMs / 1000);
  const signature = createHmac('sha256', key).update(`msg_1.${timestamp}.${body}`).digest('base64');
  const headers = new Headers({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  });
  return { headers, body: Buffer.from(body) };
}

describe('admitWebhook', () => {
  test.each(['{"type":"feed.published","data":{}}', '{"type":"of tomorrow"}', '{', ''])(
    'whatever is signed may ring: %j',
    (body) => expect(admitWebhook(webhook(body), secret, nowMs)).toBe('taken'),
  );

  test('the same one may ring again while it is fresh, and not later', () => {
    const replayed = webhook('{}');
    expect(admitWebhook(replayed, secret, nowMs + 240_000)).toBe('taken');
    expect(admitWebhook(replayed, secret, nowMs + 301_000)).toBe('refused');
  });

  test('another secret, another body or no signature is refused', () => {
    const other = { reveal: () => `whsec_${Buffer.from('another').toString('base64')}` };
    expect(admitWebhook(webhook('{}'), other, nowMs)).toBe('refused');
    expect(admitWebhook({ ...webhook('{}'), body: Buffer.from('{ }') }, secret, nowMs)).toBe('refused');
    expect(admitWebhook({ headers: new Headers(), body: Buffer.from('{}') }, secret, nowMs)).toBe('refused');
  });

  test('without a secret none is wanted', () => {
    expect(admitWebhook(webhook('{}'), null, nowMs)).toBe('not wanted');
  });
});
