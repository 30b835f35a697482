import type { Secret } from '../config/secret.ts';
import { WebhookSignatureError, verifyWebhook } from '@dropcast/client';

/** A webhook as it arrived, byte for byte. */
export interface Webhook {
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** `repeated`: this one was taken before. `not wanted`: the configuration has no webhook secret. */
export type Admission = 'taken' | 'repeated' | 'refused' | 'not wanted';

/** Enough for three webhooks a second for an hour. A forgotten id costs at most one more request to the service. */
const mostIds = 10_000;
/** Characters compared of an id. */
const longestId = 200;

/**
 * The content of a webhook does not matter, so a signed one that cannot be parsed counts too (decision 8). Each counts
 * once, because a recorded one could be sent again while its signature is valid. The newest 10,000 ids are kept in
 * memory: after a restart, a fresh one counts once more.
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
    /** @param nowMs epoch milliseconds; a signature is valid for five minutes around its timestamp */
    admit: ({ headers, body }: Webhook, secret: Secret | null, nowMs: number): Admission => {
      if (secret === null) return 'not wanted';
      if (!isSigned({ headers, body }, secret, nowMs)) return 'refused';
      return isNew((headers.get('webhook-id') ?? '').slice(0, longestId)) ? 'taken' : 'repeated';
    },
  };
}

function isSigned({ headers, body }: Webhook, secret: Secret, nowMs: number): boolean {
  try {
    verifyWebhook({ headers, body, secret: secret.reveal(), nowMs });
    return true;
  } catch (error) {
    if (!(error instanceof WebhookSignatureError)) throw error;
    return error.code === 'unreadable_event';
  }
}
