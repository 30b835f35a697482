import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createWebhookDoor } from '../../src/host/admit-webhook.ts';

const nowMs = Date.UTC(2026, 0, 1);
const key = Buffer.from('a secret of the webhook');
const secret = { reveal: () => `whsec_${key.toString('base64')}` };

const admit: ReturnType<typeof createWebhookDoor>['admit'] = (...args) => createWebhookDoor().admit(...args);

function webhook(body: string, atMs = nowMs, id = 'msg_1') {
  const timestamp = Math.floor(atMs / 1000);
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = new Headers({
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  });
  return { headers, body: Buffer.from(body) };
}

describe('admitWebhook', () => {
  test.each(['{"type":"feed.published","data":{}}', '{"type":"of tomorrow"}', '{', ''])(
    'whatever is signed may ring: %j',
    (body) => expect(admit(webhook(body), secret, nowMs)).toBe('taken'),
  );

  test('one signed event that is sent 300 times rings once', () => {
    const door = createWebhookDoor();
    const replayed = webhook('{}');
    const admissions = Array.from({ length: 300 }, (_, n) => door.admit(replayed, secret, nowMs + n * 900));
    expect(admissions).toEqual(['taken', ...Array.from({ length: 299 }, () => 'repeated')]);
    expect(door.admit(replayed, secret, nowMs + 301_000)).toBe('refused');
  });

  test('other events ring, and a forged repetition of an id takes nothing from the real one', () => {
    const door = createWebhookDoor();
    const forged = { ...webhook('{}', nowMs, 'msg_2'), body: Buffer.from('{"x":1}') };
    expect(door.admit(forged, secret, nowMs)).toBe('refused');
    expect(door.admit(webhook('{}', nowMs, 'msg_2'), secret, nowMs)).toBe('taken');
    expect(door.admit(webhook('{}', nowMs, 'msg_3'), secret, nowMs)).toBe('taken');
  });

  test('only the newest 10,000 are remembered, however long their ids are', () => {
    const door = createWebhookDoor();
    const first = webhook('{}', nowMs, 'first');
    expect(door.admit(first, secret, nowMs)).toBe('taken');
    for (let n = 0; n < 10_000; n += 1) door.admit(webhook('', nowMs, `msg_${n}${'x'.repeat(300)}`), secret, nowMs);
    expect(door.admit(first, secret, nowMs)).toBe('taken');
    expect(door.admit(webhook('', nowMs, `msg_9999${'x'.repeat(300)}`), secret, nowMs)).toBe('repeated');
  });

  test('another secret, another body or no signature is refused', () => {
    const other = { reveal: () => `whsec_${Buffer.from('another').toString('base64')}` };
    expect(admit(webhook('{}'), other, nowMs)).toBe('refused');
    expect(admit({ ...webhook('{}'), body: Buffer.from('{ }') }, secret, nowMs)).toBe('refused');
    expect(admit({ headers: new Headers(), body: Buffer.from('{}') }, secret, nowMs)).toBe('refused');
  });

  test('without a secret none is wanted', () => {
    expect(admit(webhook('{}'), null, nowMs)).toBe('not wanted');
  });
});
