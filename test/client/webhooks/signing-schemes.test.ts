import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { WebhookSignatureError } from '../../../packages/client/src/errors.ts';
import { verifyWebhook, verifyWebhookSignature } from '../../../packages/client/src/webhooks/verify-webhook.ts';
import type { ReceivedWebhook } from '../../../packages/client/src/webhooks/verify-webhook.ts';

type Headers_ = Record<string, string | string[]>;

const secret = 'an ordinary secret of the service';
const nowMs = Date.UTC(2026, 10, 20, 12, 0, 0);
const nowS = nowMs / 1000;
const body = JSON.stringify({ type: 'video.ready', data: { id: 'vid_1', status: 'ready', title: 'Ü "日本" 🎬' } });

const hex = (signed: string, key = secret) => createHmac('sha256', key).update(signed).digest('hex');
const stamped = (signed = body, atS: number | string = nowS, key = secret) =>
  `t=${atS},v1=${hex(`${atS}.${signed}`, key)}`;

function refusal(webhook: ReceivedWebhook): string | undefined {
  try {
    verifyWebhookSignature(webhook);
  } catch (error) {
    if (error instanceof WebhookSignatureError) return error.code;
    throw error;
  }
  throw new Error('it was believed');
}

// What each publishes, byte for byte: a secret, a body and their signature.
const published: Record<string, ReceivedWebhook> = {
  // https://github.com/standard-webhooks/standard-webhooks: the example of their libraries
  'Standard Webhooks': {
    scheme: 'standard',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
    nowMs: 1_614_265_330_000,
  },
  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
  GitHub: {
    scheme: 'hmac-hex',
    header: 'X-Hub-Signature-256',
    secret: "It's a Secret to Everybody",
    headers: {
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    },
    body: 'Hello, World!',
  },
  // https://github.com/muxinc/mux-node-sdk: tests/api-resources/webhooks.test.ts
  Mux: {
    scheme: 'timestamped',
    secret: 'SuperSecret123',
    headers: {
      'mux-signature': 't=1565125718,v1=854ece4c22acef7c66b57d4e504153bc512595e8e9c772ece2a68150548c19a7',
    },
    body: '{"test":"body"}',
    nowMs: 1_565_125_718_000,
  },
};

// Their pages describe how to sign, and give no complete example. The signatures were computed with
// `printf %s TEXT | openssl dgst -sha256 -hmac SECRET`, where TEXT is the body, or `TIME.` and the body.
const computed: Record<string, ReceivedWebhook> = {
  // https://docs.bunny.net/stream/webhooks
  Bunny: {
    scheme: 'hmac-hex',
    header: 'X-BunnyStream-Signature',
    secret: 'c2b2f3a0-1d1e-4f0a-9a5b-3f2d1c0b9a88',
    headers: {
      'x-bunnystream-signature': '27c926341bbc76099e52facb384f6d6e5614db8af0a063c74c53f6091ac22b10',
    },
    body: '{"VideoLibraryId":133,"VideoGuid":"657bb740-a71b-4529-a012-528021c31a92","Status":3}',
  },
  // https://developers.cloudflare.com/stream/manage-video-library/using-webhooks/
  Cloudflare: {
    scheme: 'timestamped',
    secret: '85011ed3a913c6ad5f9cf6c5573cc0a7',
    headers: {
      'webhook-signature': 'time=1230811200,sig1=8ea5112f08034d4823b6a997f7b66c68366929b4441940259360189d7c1ae51b',
    },
    body: '{"uid":"dd5d531a12de0c724bd1275a3b2bc9c6","readyToStream":true,"status":{"state":"ready"}}',
    nowMs: 1_230_811_200_000,
  },
  // https://docs.stripe.com/webhooks#verify-manually
  Stripe: {
    scheme: 'timestamped',
    header: 'Stripe-Signature',
    secret: 'whsec_test_secret',
    headers: {
      'stripe-signature': `t=1492774577,v1=654b43d3508ecadb3f8cefc4bc7d3d2bdc5ba9e03bf2c89b2d0657a8e24e4543,v0=${'6'.repeat(64)}`,
    },
    body: '{"id":"evt_1","object":"event"}',
    nowMs: 1_492_774_577_000,
  },
};

describe.each(Object.entries({ ...published, ...computed }))('the example of %s', (_, webhook) => {
  test('is genuine, also as bytes, whatever it says', () => {
    expect(verifyWebhookSignature(webhook)).toMatch(/^(msg_p5jXN8AQM9LWM0D4loKWxJek|[\da-f]{64})$/);
    const bytes = { ...webhook, body: Buffer.from(webhook.body) };
    expect(verifyWebhookSignature(bytes)).toBe(verifyWebhookSignature(webhook));
    expect(() => verifyWebhook(webhook)).toThrow(expect.objectContaining({ code: 'unreadable_event' }));
  });

  test('is refused with another body, secret or signature', () => {
    expect(refusal({ ...webhook, body: `${String(webhook.body)} ` })).toBe('wrong_signature');
    const other = webhook.scheme === 'standard' ? 'whsec_AAAA' : `${webhook.secret}.`;
    expect(refusal({ ...webhook, secret: other })).toBe('wrong_signature');
    const turned = Object.entries(webhook.headers).map(([name, value]) => [name, turn(String(value))]);
    expect(refusal({ ...webhook, headers: Object.fromEntries(turned) })).toBe('wrong_signature');
  });
});

/** Another signature of the same length, and no other timestamp. */
function turn(value: string): string {
  return value
    .replaceAll(/[\da-f]{64}/g, (digits) => `${digits.slice(1)}${digits.slice(0, 1)}`)
    .replace('g0hM', 'h0gM');
}

const schemes = {
  'hmac-hex': { scheme: 'hmac-hex', header: 'X-Sent', secret, nowMs, body, headers: { 'x-sent': hex(body) } },
  timestamped: { scheme: 'timestamped', header: 'X-Sent', secret, nowMs, body, headers: { 'x-sent': stamped() } },
} as const satisfies Record<string, ReceivedWebhook>;

const sending = (scheme: keyof typeof schemes, headers: Headers_ | Headers): ReceivedWebhook => ({
  ...schemes[scheme],
  headers,
});

describe.each(Object.keys(schemes) as (keyof typeof schemes)[])('a webhook signed as %s', (scheme) => {
  const webhook = schemes[scheme];
  const value = webhook.headers['x-sent'];

  test('is read, and its signature is its id', () => {
    const id = value.slice(-64);
    expect(verifyWebhook(webhook)).toMatchObject({ isKnown: true, id, type: 'video.ready', data: { id: 'vid_1' } });
  });

  test('may have its header in any case, as an object of Node or of Fetch, and its hex in upper case', () => {
    const loud = value.replace(/[\da-f]{64}/, (digits) => digits.toUpperCase());
    for (const headers of [{ 'X-SENT': value }, new Headers({ 'x-Sent': value }), { 'x-sent': loud }])
      expect(verifyWebhookSignature(sending(scheme, headers))).toBe(value.slice(-64));
  });

  test('is refused when its header is missing, empty, elsewhere or there twice', () => {
    const twice = new Headers([
      ['x-sent', value],
      ['x-sent', value],
    ]);
    for (const headers of [{}, { 'x-sent': '' }, { 'x-sent': [] }, { 'x-signature': value }, new Headers()])
      expect(refusal(sending(scheme, headers))).toBe('missing_header');
    expect(refusal(sending(scheme, { 'x-sent': value, 'X-Sent': value }))).toBe('missing_header');
    expect(refusal(sending(scheme, { 'x-sent': [value, value] }))).toBe('missing_header');
    expect(refusal(sending(scheme, twice))).toMatch(/^(wrong_signature|bad_timestamp)$/);
  });

  test('is refused when its header has 64 KiB, or more characters than any signature needs', () => {
    for (const length of [4_097, 64 * 1024])
      expect(refusal(sending(scheme, { 'x-sent': value.padEnd(length, ',') }))).toBe('bad_header');
    const most = { 'x-sent': `${value},${'x'.repeat(4_095 - value.length)}` };
    expect(scheme === 'hmac-hex' || verifyWebhookSignature(sending(scheme, most))).toBeTruthy();
  });

  test('is refused, and nothing else is thrown, whatever its header has', () => {
    const texts = ['', ' ', ',', '=', ',,=,=,', 't', 't=', 'v1=', 'sha256=', 'sha256', '\u0000', '💥', '__proto__=1'];
    const odd = [
      ...texts,
      ...texts.map((text) => `${text},${stamped().slice(2)}`),
      hex(body).slice(1),
      `${hex(body)}0`,
    ];
    for (const text of [...odd, hex(body).replace(/.$/, 'g'), `${hex(body)} ${hex(body)}`, `md5=${hex(body)}`])
      expect(refusal(sending(scheme, { 'x-sent': text })), JSON.stringify(text)).toMatch(/^[a-z_]+$/);
  });

  test.each(['', undefined])('is not judged with the secret %j, which anybody has', (none) => {
    expect(() => verifyWebhookSignature({ ...webhook, secret: none as string })).toThrow(TypeError);
  });
});

describe('a webhook signed as hmac-hex', () => {
  test('may say sha256=, and has its signature in x-signature by default', () => {
    const headers = { 'x-signature': `sha256=${hex(body)}` };
    expect(verifyWebhookSignature({ scheme: 'hmac-hex', secret, body, headers })).toBe(hex(body));
  });

  test('is never too old: nothing in it says when it was sent', () => {
    expect(verifyWebhookSignature({ ...schemes['hmac-hex'], nowMs: nowMs + 1e12, toleranceMs: 0 })).toBe(hex(body));
  });
});

describe('a timestamped webhook', () => {
  const at = (header: string, more: Partial<ReceivedWebhook> = {}): ReceivedWebhook => ({
    ...schemes.timestamped,
    headers: { 'x-sent': header },
    ...more,
  });

  test('is valid for five minutes either way, and no longer', () => {
    for (const atS of [nowS, nowS - 300, nowS + 300])
      expect(verifyWebhookSignature(at(stamped(body, atS)))).toBe(hex(`${atS}.${body}`));
    expect(refusal(at(stamped(body, nowS - 301)))).toBe('too_old');
    expect(refusal(at(stamped(body, nowS + 301)))).toBe('too_new');
    expect(refusal(at(stamped(body, nowS - 1), { toleranceMs: 0 }))).toBe('too_old');
  });

  test.each(['', 'soon', '1.5', '-1', '1e9', '9'.repeat(13)])('with the time %j is refused', (time) => {
    expect(refusal(at(stamped(body, time)))).toBe('bad_timestamp');
  });

  test('with two times, or with another time than the signed one, is refused', () => {
    expect(refusal(at(`t=${nowS},${stamped()}`))).toBe('bad_timestamp');
    expect(refusal(at(`time=${nowS},${stamped()}`))).toBe('bad_timestamp');
    expect(refusal(at(stamped().replace(`t=${nowS}`, `t=${nowS - 1}`)))).toBe('wrong_signature');
  });

  test('may be signed with several secrets while one is replaced, up to 20', () => {
    const signature = stamped().slice(-64);
    const old = stamped(body, nowS, 'the old secret').slice(-64);
    for (const header of [`t=${nowS},v1=${old},v1=${signature}`, `v1=${signature}, v1=${old}, t=${nowS}`])
      expect(verifyWebhookSignature(at(header))).toBe(signature);
    const many = (count: number) => `t=${nowS}${`,v1=${old}`.repeat(count - 1)},v1=${signature}`;
    expect(verifyWebhookSignature(at(many(20)))).toBe(signature);
    expect(refusal(at(many(21)))).toBe('bad_header');
  });

  test('of another version only is refused', () => {
    expect(refusal(at(stamped().replace('v1=', 'v0=')))).toBe('wrong_signature');
    expect(refusal(at(stamped().replace('v1=', 'sig2=')))).toBe('wrong_signature');
  });

  test('has its signature in one of two headers by default, and not in both', () => {
    const sent = (headers: Headers_): ReceivedWebhook => ({ scheme: 'timestamped', secret, body, nowMs, headers });
    expect(verifyWebhookSignature(sent({ 'mux-signature': stamped() }))).toBe(stamped().slice(-64));
    expect(verifyWebhookSignature(sent({ 'Webhook-Signature': stamped() }))).toBe(stamped().slice(-64));
    expect(refusal(sent({ 'mux-signature': stamped(), 'webhook-signature': stamped() }))).toBe('missing_header');
    expect(refusal(sent({ 'x-signature': stamped() }))).toBe('missing_header');
  });
});

test('a standard webhook with a header of 64 KiB, or with more than 20 signatures, is refused', () => {
  const webhook = published['Standard Webhooks'] as ReceivedWebhook;
  const headers = webhook.headers as Record<string, string>;
  const sent = (list: string) => ({ ...webhook, headers: { ...headers, 'webhook-signature': list } });
  const signature = headers['webhook-signature'];
  const many = (count: number) => Array.from({ length: count }, () => signature).join(' ');
  expect(verifyWebhookSignature(sent(many(20)))).toBe('msg_p5jXN8AQM9LWM0D4loKWxJek');
  expect(refusal(sent(many(21)))).toBe('bad_header');
  expect(refusal(sent('v1,'.padEnd(64 * 1024, 'A')))).toBe('bad_header');
});

test.each(['standard', 'hmac-hex', 'timestamped'] as const)('nothing but a refusal comes of noise, as %s', (scheme) => {
  const names = ['x-sent', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const parts = fc.constantFrom(
    't=',
    'time=',
    'v1=',
    'sig1=',
    'sha256=',
    'v1,',
    ',',
    '=',
    ' ',
    String(nowS),
    hex(body),
  );
  const noise = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(parts).map((each) => each.join('')),
  );
  const arbitrary = fc.record(Object.fromEntries(names.map((name) => [name, noise])), { requiredKeys: [] });
  const key = scheme === 'standard' ? 'whsec_AAAA' : secret;
  fc.assert(
    fc.property(arbitrary, fc.uint8Array(), (headers, bytes) => {
      const webhook = { scheme, header: 'x-sent', secret: key, nowMs, body: bytes, headers: headers as Headers_ };
      expect(refusal(webhook)).toMatch(/^[a-z_]+$/);
    }),
  );
});
