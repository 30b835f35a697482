import type { Secret } from '../config/config.ts';
import { WebhookSignatureError, verifyWebhook } from '@dropcast/client';

/** A webhook as it arrived, byte for byte. */
export interface Webhook {
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** `not wanted`: the configuration has no webhook secret. */
export type Admission = 'taken' | 'refused' | 'not wanted';

/**
 * Whether a webhook may make dropcast ask the service soon. Its content does not matter, so a signed one that cannot be read counts too
 * (decision 8).
 *
 * @param nowMs epoch milliseconds; a signature is valid for five minutes around its timestamp
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
