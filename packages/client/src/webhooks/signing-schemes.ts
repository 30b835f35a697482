/**
 * How a service signs webhooks with HMAC-SHA256. `standard`: Standard Webhooks, over `id.timestamp.body`, in base64.
 * `hmac-hex`: over the body, in hex, with or without `sha256=`. `timestamped`: over `timestamp.body`, in hex, as
 * `t=…,v1=…` or `time=…,sig1=…`.
 */
export type WebhookScheme = 'standard' | 'hmac-hex' | 'timestamped';

/** The id, time and signatures that a webhook's headers claim. */
export interface Claim {
  /** Message id, unchanged on redelivery; null if the scheme has none. */
  readonly id: string | null;
  /** Seconds since 1970, as sent; null if the scheme has no timestamp. */
  readonly timestamp: string | null;
  /** Signed text that precedes the body. */
  readonly prefix: string;
  readonly signatures: readonly Buffer[];
}

interface SigningScheme {
  /**
   * Returns groups of alternative header names, in lower case; one from each group is required. @param header the
   * configured one
   */
  namesOf(header: string | undefined): readonly (readonly string[])[];
  /** Derives the signing key. @throws {TypeError} the message omits the secret */
  keyOf(secret: string): Buffer;
  /** @param values header values, in the order of the groups */
  read(values: readonly string[]): Claim;
}

export const signingSchemes: Readonly<Record<WebhookScheme, SigningScheme>> = {
  standard: {
    namesOf: () => [['webhook-id'], ['webhook-timestamp'], ['webhook-signature']],
    keyOf: (secret) => {
      const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1] ?? '';
      return filled(Buffer.from(base64, 'base64'), 'whsec_ followed by base64');
    },
    // Signatures with a version other than `v1` are ignored.
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
    // Only the first version counts: Stripe also signs test events with `v0`.
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

/** Rejects an empty key, which anyone could use. */
function filled(key: Buffer, form: string): Buffer {
  if (key.length > 0) return key;
  throw new TypeError(`the secret of a webhook must be ${form}`);
}

/** Decodes hex strictly. `Buffer.from` alone stops at the first invalid character and keeps what precedes it. */
function bytesOf(hex: string): Buffer[] {
  return /^[\da-f]{64}$/i.test(hex) ? [Buffer.from(hex, 'hex')] : [];
}
