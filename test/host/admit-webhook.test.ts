import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { WebhookConfig } from '../../src/config/config.ts';
import { createWebhookDoor } from '../../src/host/admit-webhook.ts';

const nowMs = Date.UTC(2026, 0, 1);
const key = Buffer.from('a secret of the webhook');
const standard: WebhookConfig = {
  secret: { reveal: () => `whsec_${key.toString('base64')}` },
  scheme: 'standard',
  header: null,
};

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
    (body) => expect(admit(webhook(body), standard, nowMs)).toBe('taken'),
  );

  test('one signed event that is sent 300 times rings once', () => {
    const door = createWebhookDoor();
    const replayed = webhook('{}');
    const admissions = Array.from({ length: 300 }, (_, n) => door.admit(replayed, standard, nowMs + n * 900));
    expect(admissions).toEqual(['taken', ...Array.from({ length: 299 }, () => 'repeated')]);
    expect(door.admit(replayed, standard, nowMs + 301_000)).toBe('refused');
  });

  test('other events ring, and a forged repetition of an id takes nothing from the real one', () => {
    const door = createWebhookDoor();
    const forged = { ...webhook('{}', nowMs, 'msg_2'), body: Buffer.from('{"x":1}') };
    expect(door.admit(forged, standard, nowMs)).toBe('refused');
    expect(door.admit(webhook('{}', nowMs, 'msg_2'), standard, nowMs)).toBe('taken');
    expect(door.admit(webhook('{}', nowMs, 'msg_3'), standard, nowMs)).toBe('taken');
  });

  test('only the newest 10,000 are remembered, however long their ids are', () => {
    const door = createWebhookDoor();
    const first = webhook('{}', nowMs, 'first');
    expect(door.admit(first, standard, nowMs)).toBe('taken');
    for (let n = 0; n < 10_000; n += 1) door.admit(webhook('', nowMs, `msg_${n}${'x'.repeat(300)}`), standard, nowMs);
    expect(door.admit(first, standard, nowMs)).toBe('taken');
    expect(door.admit(webhook('', nowMs, `msg_9999${'x'.repeat(300)}`), standard, nowMs)).toBe('repeated');
  });

  test('another secret, another body or no signature is refused', () => {
    const other = { ...standard, secret: { reveal: () => `whsec_${Buffer.from('another').toString('base64')}` } };
    expect(admit(webhook('{}'), other, nowMs)).toBe('refused');
    expect(admit({ ...webhook('{}'), body: Buffer.from('{ }') }, standard, nowMs)).toBe('refused');
    expect(admit({ headers: new Headers(), body: Buffer.from('{}') }, standard, nowMs)).toBe('refused');
  });

  test('without a secret none is wanted', () => {
    expect(admit(webhook('{}'), null, nowMs)).toBe('not wanted');
  });

  test('before its body is read, it is refused only if no body can make it right', () => {
    const { headers } = webhook('{}');
    const door = createWebhookDoor();
    expect(door.admit({ headers, body: null }, standard, nowMs)).toBe('unread');
    expect(door.admit({ ...webhook(''), body: null }, standard, nowMs)).toBe('unread');
    expect(door.admit({ headers, body: null }, standard, nowMs + 301_000)).toBe('refused');
    for (const name of headers.keys()) {
      const others = Object.fromEntries([...headers].filter(([other]) => other !== name));
      expect(door.admit({ headers: others, body: null }, standard, nowMs)).toBe('refused');
    }
    expect(door.admit({ headers, body: null }, null, nowMs)).toBe('not wanted');
    expect(door.admit(webhook('{}'), standard, nowMs)).toBe('taken');
  });
});

describe.each(['hmac-hex', 'timestamped'] as const)('a webhook signed as %s', (scheme) => {
  const text = 'a secret of the webhook';
  const config: WebhookConfig = { secret: { reveal: () => text }, scheme, header: 'X-Sent' };
  const hex = (signed: string) => createHmac('sha256', text).update(signed).digest('hex');
  const signed = (body: string, atMs = nowMs) => {
    const value = scheme === 'hmac-hex' ? hex(body) : `t=${atMs / 1000},v1=${hex(`${atMs / 1000}.${body}`)}`;
    return { headers: { 'x-sent': value }, body: Buffer.from(body) };
  };

  test('rings once, however its signature is written, and whatever it says', () => {
    const door = createWebhookDoor();
    const one = signed('{"VideoLibraryId":133,"VideoGuid":"657bb740","Status":3}');
    expect(door.admit({ ...one, body: null }, config, nowMs)).toBe('unread');
    const loud = one.headers['x-sent'].replace(/[\da-f]{64}/, (digits) => digits.toUpperCase());
    const spellings = scheme === 'hmac-hex' ? [loud, `sha256=${loud}`] : [loud, `${loud},v1=${'0'.repeat(64)}`];
    expect(door.admit(one, config, nowMs)).toBe('taken');
    for (const spelling of [one.headers['x-sent'], ...spellings])
      expect(door.admit({ ...one, headers: { 'X-SENT': spelling } }, config, nowMs)).toBe('repeated');
    expect(door.admit(signed('{}'), config, nowMs)).toBe('taken');
    expect(door.admit(signed(''), config, nowMs)).toBe('taken');
  });

  test('is refused with another body, another header or no header', () => {
    const one = signed('{}');
    expect(admit({ ...one, body: Buffer.from('{ }') }, config, nowMs)).toBe('refused');
    expect(admit(one, { ...config, header: 'x-other' }, nowMs)).toBe('refused');
    expect(admit({ headers: {}, body: null }, config, nowMs)).toBe('refused');
  });

  test('is forgotten as little as its scheme allows', () => {
    const door = createWebhookDoor();
    expect(door.admit(signed('{}'), config, nowMs)).toBe('taken');
    const later = door.admit(signed('{}'), config, nowMs + 301_000);
    expect(later).toBe(scheme === 'hmac-hex' ? 'repeated' : 'refused');
  });
});
