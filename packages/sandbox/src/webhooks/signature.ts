import { createHmac, randomBytes } from 'node:crypto';
import type { Switches } from '../profiles/switch-table.ts';

interface Signed {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestampS: number;
  readonly body: string;
}

type Headers = Readonly<Record<string, string | number>>;

/**
 * Returns the headers that sign a webhook. assumed (api-spec section 6 leaves the scheme open): Standard Webhooks with
 * the symmetric scheme v1. The other forms follow the documentation of each service; their key is the text of the
 * secret.
 */
export function signatureHeaders(signed: Signed, secret: string, form: Switches['webhook_form']): Headers {
  return forms[form](signed, secret);
}

const forms: Readonly<Record<Switches['webhook_form'], (signed: Signed, secret: string) => Headers>> = {
  standard: (signed, secret) => ({
    'webhook-id': signed.id,
    'webhook-timestamp': signed.timestampS,
    'webhook-signature': signatureOf(signed, secret),
  }),
  github: ({ body }, secret) => ({ 'X-Hub-Signature-256': `sha256=${hexOf(body, secret)}` }),
  bunny: ({ body }, secret) => ({ 'X-BunnyStream-Signature': hexOf(body, secret) }),
  mux: ({ timestampS: t, body }, secret) => ({ 'Mux-Signature': `t=${t},v1=${hexOf(`${t}.${body}`, secret)}` }),
  cloudflare: ({ timestampS: t, body }, secret) => ({
    'Webhook-Signature': `time=${t},sig1=${hexOf(`${t}.${body}`, secret)}`,
  }),
  unsigned: () => ({}),
};

/** Returns the signature as defined by Standard Webhooks. */
export function signatureOf({ id, timestampS, body }: Signed, secret: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestampS}.${body}`).digest('base64')}`;
}

function hexOf(text: string, secret: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

/** Creates a secret: `whsec_` and the base64 of 24 random bytes, the minimum that Standard Webhooks allows. */
export function newSecret(): string {
  return `${PREFIX}${randomBytes(24).toString('base64')}`;
}

const PREFIX = 'whsec_';
