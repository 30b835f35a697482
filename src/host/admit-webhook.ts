import type { Secret } from '../config/secret.ts';
import { WebhookSignatureError, verifyWebhook } from '@dropcast/client';

/** A webhook as it arrived, byte for byte. */
export interface Webhook {
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** `repeated`: this one was taken before. `not wanted`: the configuration has no webhook secret. */
export type Admission = 'taken' | 'repeated' | 'refused' | 'not wanted';

/** Enough for three webhooks a second in an hour. A forgotten id costs at most one more question to the service. */
const mostIds = 10_000;
/** Characters that tell ids apart. */
const longestId = 200;

/**
 * A webhook's content does not matter, so a signed one that cannot be read counts too (decision 8). Each counts once: who has recorded
 * one could send it again for as long as its signature is valid. Ids are kept in memory, the newest 10,000: after a restart, one that is
 * still fresh counts once more.
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
