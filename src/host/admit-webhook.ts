import type { WebhookConfig } from '../config/config.ts';
import { WebhookSignatureError, verifyWebhookSignature } from '@dropcast/client';
import type { ReceivedWebhook } from '@dropcast/client';

/** A webhook as it arrived, byte for byte. */
export interface Webhook {
  readonly headers: ReceivedWebhook['headers'];
  /** Null: not read yet. */
  readonly body: Uint8Array | null;
}

/**
 * `repeated`: this one was taken before. `not wanted`: the configuration has no webhook secret. `unread`: only the body
 * tells.
 */
export type Admission = 'taken' | 'repeated' | 'refused' | 'not wanted' | 'unread';

/** Enough for three webhooks a second for an hour. A forgotten id costs at most one more request to the service. */
const mostIds = 10_000;
/** Characters compared of an id. */
const longestId = 200;

/**
 * The content of a webhook does not matter, so a signed one that cannot be parsed counts too (decision 8). Each counts
 * once, because a recorded one could be sent again while its signature is valid, which for `hmac-hex` is for ever. The
 * newest 10,000 ids are kept in memory: after a restart, each counts once more. Where a scheme has no id, it is the
 * signature.
 */
export function createWebhookDoor() {
  const taken = new Set<string>();
  const isNew = (id: string): boolean => {
    if (taken.has(id)) return false;
    const [oldest] = taken;
    if (taken.size >= mostIds && oldest !== undefined) taken.delete(oldest);
    taken.add(id);
    return true;
  };
  return {
    /** @param nowMs epoch milliseconds; a signature with a timestamp is valid for five minutes around it */
    admit: ({ headers, body }: Webhook, webhooks: WebhookConfig | null, nowMs: number): Admission => {
      if (webhooks === null) return 'not wanted';
      const { scheme, header } = webhooks;
      try {
        const secret = webhooks.secret.reveal();
        const id = verifyWebhookSignature({
          headers,
          body: body ?? '',
          secret,
          scheme,
          header: header ?? undefined,
          nowMs,
        });
        if (body === null) return 'unread';
        return isNew(id.slice(0, longestId)) ? 'taken' : 'repeated';
      } catch (error) {
        if (!(error instanceof WebhookSignatureError)) throw error;
        return body === null && error.code === 'wrong_signature' ? 'unread' : 'refused';
      }
    },
  };
}
