import { createHmac, randomBytes } from 'node:crypto';

/** A new secret: `whsec_` and the base64 of 24 random bytes, the least that Standard Webhooks allows. */
export function newSecret(): string {
  return `${PREFIX}${randomBytes(24).toString('base64')}`;
}

export interface Signed {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestampS: number;
  readonly body: string;
}

/** assumed (api-spec section 6 leaves the scheme open): as Standard Webhooks sign, with the symmetric scheme v1. */
export function signatureOf({ id, timestampS, body }: Signed, secret: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestampS}.${body}`).digest('base64')}`;
}

const PREFIX = 'whsec_';
