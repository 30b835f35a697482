/**
 * How a service signs webhooks, always with HMAC-SHA256. `standard`: Standard Webhooks, over `id.timestamp.body`, in
 * base64. `hmac-hex`: over the body, in hex, with or without `sha256=`. `timestamped`: over `timestamp.body`, in hex,
 * as `t=…,v1=…` or `time=…,sig1=…`.
 */
export type WebhookScheme = 'standard' | 'hmac-hex' | 'timestamped';

/** What the headers of a webhook claim. */
export interface Claim {
  /** The same when the message is delivered again; null where the scheme has none. */
  readonly id: string | null;
  /** Seconds since 1970, as sent; null where the scheme has none. */
  readonly timestamp: string | null;
  /** Text that is signed ahead of the body. */
  readonly prefix: string;
  readonly signatures: readonly Buffer[];
}

interface SigningScheme {
  /** The headers that it needs, in lower case: one of each group. @param header the configured one */
  namesOf(header: string | undefined): readonly (readonly string[])[];
  /** @throws {TypeError} without the secret in it */
  keyOf(secret: string): Buffer;
  /** @param values of the headers, in the order of the groups */
  read(values: readonly string[]): Claim;
}

export const signingSchemes: Readonly<Record<WebhookScheme, SigningScheme>> = {
  standard: {
    namesOf: () => [['webhook-id'], ['webhook-timestamp'], ['webhook-signature']],
    keyOf: (secret) => {
      const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1] ?? '';
      return filled(Buffer.from(base64, 'base64'), 'whsec_ followed by base64');
    },
    // Other versions than `v1` are ignored.
    read: ([id = '', timestamp = '', list = '']) => {
      const signatures = list.split(' ').filter((text) => text.startsWith('v1,'));
      const bytes = signatures.map((text) => Buffer.from(text.slice('v1,'.length), 'base64'));
      return { id, timestamp, prefix: `${id}.${timestamp}.`, signatures: bytes };
    },
  },
  'hmac-hex': {
    namesOf: (header = 'x-signature') => [[header]],
    keyOf: keyOfText,
    read: ([text = '']) => ({
      id: null,
      timestamp: null,
      prefix: '',
      signatures: bytesOf(text.replace(/^sha256=/i, '')),
    }),
  },
  timestamped: {
    namesOf: (header) => [header === undefined ? ['mux-signature', 'webhook-signature'] : [header]],
    keyOf: keyOfText,
    // Other versions than the first are ignored: Stripe signs test events with `v0` as well.
    read: ([list = '']) => {
      const fields = list.split(',').map((field) => /^ *(\w+)=(\w+) *$/.exec(field) ?? []);
      const valuesOf = (...names: string[]) =>
        fields.flatMap(([, name = '', value = '']) => (names.includes(name) ? value : []));
      const timestamps = valuesOf('t', 'time');
      const timestamp = timestamps.length === 1 ? timestamps.join('') : '';
      return { id: null, timestamp, prefix: `${timestamp}.`, signatures: valuesOf('v1', 'sig1').flatMap(bytesOf) };
    },
  },
};

function keyOfText(secret: string): Buffer {
  return filled(Buffer.from(secret), 'text');
}

/** An empty key is one that everybody has. */
function filled(key: Buffer, form: string): Buffer {
  if (key.length > 0) return key;
  throw new TypeError(`the secret of a webhook must be ${form}`);
}

/** `Buffer.from` stops at the first character that is not hex, and takes what comes before it. */
function bytesOf(hex: string): Buffer[] {
  return /^[\da-f]{64}$/i.test(hex) ? [Buffer.from(hex, 'hex')] : [];
}
