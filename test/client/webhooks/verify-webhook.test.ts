import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';

import { verifyWebhook } from '../../../packages/client/src/webhooks/verify-webhook.ts';
import type { ReceivedWebhook } from '../../../packages/client/src/webhooks/verify-webhook.ts';
import { WebhookSignatureError } from '../../../packages/client/src/errors.ts';

const nowMs = Date.UTC(2026, 10, 20, 12, 0, 0);
const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const otherSecret = `whsec_${Buffer.from('another secret of this service').toString('base64')}`;
const ready = JSON.stringify({
  type: 'video.ready',
  timestamp: '2026-11-20T12:00:00.000Z',
  data: { id: 'vid_1', status: 'ready', title: 'T', duration: 12 },
});

function sign(body: string, { id = 'msg_1', timestamp = String(nowMs / 1000), key = secret } = {}): string {
  const bytes = Buffer.from(key.slice('whsec_'.length), 'base64');
  return `v1,${createHmac('sha256', bytes).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

function received(body: string, headers: Record<string, string | string[]> = {}): ReceivedWebhook {
  const signed = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(nowMs / 1000),
    'webhook-signature': sign(body),
  };
  return { body, headers: { ...signed, ...headers }, secret, nowMs };
}

function refused(webhook: ReceivedWebhook): WebhookSignatureError {
  try {
    verifyWebhook(webhook);
  } catch (error) {
    if (error instanceof WebhookSignatureError) return error;
    throw error;
  }
  throw new Error('it was believed');
}

describe('a webhook', () => {
  test('agrees with the example of Standard Webhooks', () => {
    const webhook = {
      body: '{"test": 2432232314}',
      headers: {
        'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'webhook-timestamp': '1614265330',
        'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      },
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      nowMs: 1_614_265_330_000,
    };
    // Its body is no event of ours; but the signature before that is right.
    expect(refused(webhook).code).toBe('unreadable_event');
    expect(refused({ ...webhook, body: '{"test": 2432232315}' }).code).toBe('wrong_signature');
  });

  test('that is signed and new is read, from text and from bytes', () => {
    const event = {
      isKnown: true,
      id: 'msg_1',
      type: 'video.ready',
      timestamp: '2026-11-20T12:00:00.000Z',
      data: { id: 'vid_1', status: 'ready', title: 'T', duration: 12 },
    };
    expect(verifyWebhook(received(ready))).toEqual(event);
    expect(verifyWebhook({ ...received(ready), body: new TextEncoder().encode(ready) })).toEqual(event);
    expect(verifyWebhook({ ...received(ready), body: Buffer.from(ready) })).toEqual(event);
  });

  test.each([
    [
      { type: 'video.failed', timestamp: 'T', data: { id: 'v', status: 'failed', error: { message: 'no codec' } } },
      { isKnown: true, data: { id: 'v', status: 'failed', message: 'no codec' } },
    ],
    [
      { type: 'feed.published', timestamp: 'T', data: { feed_id: 'f', status: 'published', video_count: 3 } },
      { isKnown: true, data: { feedId: 'f', status: 'published', videoCount: 3 } },
    ],
    [
      { type: 'video.deleted', timestamp: 'T', data: { id: 'v', why: [1] } },
      { isKnown: false, data: { id: 'v', why: [1] } },
    ],
    [{ type: 'ping' }, { isKnown: false, timestamp: '', data: undefined }],
  ])('%j is read, or passed on as it is', (sent, expected) => {
    expect(verifyWebhook(received(JSON.stringify(sent)))).toEqual({
      id: 'msg_1',
      type: sent.type,
      timestamp: 'T',
      ...expected,
    });
  });

  test('is of a known kind in any letters', () => {
    const sent = JSON.stringify({ type: ' Video.Ready ', timestamp: 'T', data: { id: 'v', status: 'READY' } });
    expect(verifyWebhook(received(sent))).toMatchObject({
      isKnown: true,
      type: 'video.ready',
      data: { status: 'ready' },
    });
  });

  test('may have its headers in any case, as an object of Node or of Fetch', () => {
    const { headers } = received(ready);
    const given = Object.entries(headers as Record<string, string>);
    const upper = Object.fromEntries(given.map(([name, value]) => [name.toUpperCase(), value]));
    expect(verifyWebhook({ ...received(ready), headers: upper }).id).toBe('msg_1');
    expect(verifyWebhook({ ...received(ready), headers: new Headers(given) }).id).toBe('msg_1');
  });

  test('may be signed with several secrets while one is replaced', () => {
    const both = `${sign(ready, { key: otherSecret })} ${sign(ready)}`;
    expect(verifyWebhook(received(ready, { 'webhook-signature': both })).id).toBe('msg_1');
    expect(verifyWebhook({ ...received(ready, { 'webhook-signature': both }), secret: otherSecret }).id).toBe('msg_1');
    const another = `v2,abc v1a,def ${sign(ready)}`;
    expect(verifyWebhook(received(ready, { 'webhook-signature': another })).id).toBe('msg_1');
  });

  test.each([
    ['of another body', sign(`${ready} `)],
    ['of another id', sign(ready, { id: 'msg_2' })],
    ['of another time', sign(ready, { timestamp: '1' })],
    ['of another secret', sign(ready, { key: otherSecret })],
    ['without version', sign(ready).slice(3)],
    ['of another version', sign(ready).replace('v1', 'v2')],
    ['that is cut', sign(ready).slice(0, 20)],
    ['that is longer', `${sign(ready).slice(0, -1)}AAAA`],
    ['that is empty', 'v1,'],
  ])('with a signature %s is refused', (_, signature) => {
    expect(refused(received(ready, { 'webhook-signature': signature })).code).toBe('wrong_signature');
  });

  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('without %s is refused', (name) => {
    expect(refused(received(ready, { [name]: '' })).code).toBe('missing_header');
    expect(refused(received(ready, { [name]: [] })).code).toBe('missing_header');
    expect(refused({ ...received(ready), headers: new Headers() }).code).toBe('missing_header');
    const twice = received(ready, { [name.toUpperCase()]: 'x' });
    expect(refused(twice)).toMatchObject({ code: 'missing_header', message: expect.stringContaining('more than one') });
  });

  test('is valid for five minutes either way, and no longer', () => {
    const aged = (seconds: number, toleranceMs?: number): ReceivedWebhook => {
      const timestamp = String(nowMs / 1000 - seconds);
      const headers = { 'webhook-timestamp': timestamp, 'webhook-signature': sign(ready, { timestamp }) };
      return { ...received(ready, headers), ...(toleranceMs !== undefined && { toleranceMs }) };
    };
    for (const seconds of [0, 300, -300]) expect(verifyWebhook(aged(seconds)).id).toBe('msg_1');
    expect(refused(aged(301)).code).toBe('too_old');
    expect(refused(aged(-301)).code).toBe('too_new');
    expect(verifyWebhook(aged(3000, 3_000_000)).id).toBe('msg_1');
    expect(refused(aged(1, 0)).code).toBe('too_old');
  });

  test.each(['soon', '', '1.5', '-1', '1e3', ' 1', '9'.repeat(13)])('with the time %j is refused', (timestamp) => {
    const headers = { 'webhook-timestamp': timestamp, 'webhook-signature': sign(ready, { timestamp }) };
    expect(refused(received(ready, headers)).code).toBe(timestamp === '' ? 'missing_header' : 'bad_timestamp');
  });

  test.each(['', 'text', '[]', '{}', '{"type":""}', '{"type":"video.ready","data":{}}', '{"type":"video.ready"}'])(
    'that is signed but says %j is refused',
    (body) => {
      expect(refused(received(body)).code).toBe('unreadable_event');
    },
  );

  test.each(['', 'whsec_', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_not base64!'])(
    'is not judged with the secret %j, which is not shown',
    (wrong) => {
      const judge = () => verifyWebhook({ ...received(ready), secret: wrong });
      expect(judge).toThrow(TypeError);
      expect(judge).toThrow(/whsec_ followed by base64$/);
    },
  );

  test('that is refused shows neither secret nor signature', () => {
    const error = refused(received(ready, { 'webhook-signature': sign(ready, { key: otherSecret }) }));
    const text = `${error.stack}${JSON.stringify(error)}`;
    for (const hidden of [secret, secret.slice(6), sign(ready)]) expect(text).not.toContain(hidden);
  });
});

test.each<object>([{ toleranceMs: NaN }, { nowMs: NaN }, { toleranceMs: '5m' }, { nowMs: new Date(NaN) }])(
  'no age is checked against %j: it is a mistake of the caller',
  (given) => {
    expect(() => verifyWebhook({ ...received(ready), ...given })).toThrow(TypeError);
  },
);
