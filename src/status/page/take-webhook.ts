import type { Context } from 'hono';
import type { Admission, Webhook } from '../../host/admit-webhook.ts';
import { limitedBody } from '../../http/limited-body.ts';

type Refusal = readonly [status: 401 | 404 | 413, text: string];

export const TOO_LONG: Refusal = [413, 'The body is larger than 64 KiB.\n'];

/** POST /webhooks: for everyone, because the signature proves the sender. */
export async function takeWebhook(context: Context, receive: (webhook: Webhook) => Admission): Promise<Response> {
  const body = await limitedBody(context.req.raw);
  if (body === null) {
    const [status, text] = TOO_LONG;
    return context.text(text, status, { connection: 'close' });
  }
  const refusal = refusalOf(receive({ headers: context.req.raw.headers, body }));
  return refusal === null ? context.body(null, 204) : context.text(refusal[1], refusal[0]);
}

/** @returns null when the webhook counts. A repeated one does, too: its first answer got lost, and the service may stop repeating it. */
export function refusalOf(admission: Admission): Refusal | null {
  if (admission === 'taken' || admission === 'repeated') return null;
  return admission === 'not wanted'
    ? [404, 'Webhooks are off: service.webhook_secret is not set.\n']
    : [401, 'The signature is missing, wrong or too old.\n'];
}
