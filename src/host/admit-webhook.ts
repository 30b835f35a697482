import type { WebhookConfig } from '../config/config.ts';
import { WebhookSignatureError, verifyWebhookSignature } from '@dropcast/client';
import type { ReceivedWebhook } from '@dropcast/client';

/** A webhook exactly as it arrived, byte for byte. */
export interface Webhook {
  readonly headers: ReceivedWebhook['headers'];
  /** Null if not read yet. */
  readonly body: Uint8Array | null;
}

/**
 * `repeated`: the same webhook was accepted before. `not wanted`: the configuration has no webhook secret. `unread`:
 * the decision needs the body.
 */
export type Admission = 'taken' | 'repeated' | 'refused' | 'not wanted' | 'unread';

/**
 * Maximum number of remembered ids: three webhooks a second for an hour. Forgetting one costs at most one extra
 * request.
 */
const mostIds = 10_000;
const longestId = 200;

/**
 * Checks webhook signatures. The content of a webhook does not matter, so a signed one that cannot be parsed counts too
 * (decision 8). Each webhook counts once, because a recorded one could be replayed while its signature is valid, which
 * for `hmac-hex` is forever. The newest 10,000 ids are kept in memory, so after a restart each counts once more. If a
 * scheme has no id, the signature serves as one.
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
    /** @param nowMs epoch milliseconds; a signature with a timestamp is valid within five minutes of it */
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
