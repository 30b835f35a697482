import type { Secret } from '../config/config.ts';
import { WebhookSignatureError, verifyWebhook } from '@dropcast/client';

/** As it came, byte for byte. */
export interface Webhook {
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** `not wanted`: the configuration has no secret. */
export type Admission = 'taken' | 'refused' | 'not wanted';

/**
 * Whether a webhook may ring. What it says does not matter: one that is signed but cannot be read may ring too.
 * @param nowMs epoch milliseconds: a signature is good for five minutes around its time
 */
export function admitWebhook({ headers, body }: Webhook, secret: Secret | null, nowMs: number): Admission {
  if (secret === null) return 'not wanted';
  try {
    verifyWebhook({ headers, body, secret: secret.reveal(), nowMs });
    return 'taken';
  } catch (error) {
    if (!(error instanceof WebhookSignatureError)) throw error;
    return error.code === 'unreadable_event' ? 'taken' : 'refused';
  }
}
