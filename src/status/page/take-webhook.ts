import type { Context } from 'hono';
import type { Admission, Webhook } from '../../host/admit-webhook.ts';
import { limitedBody } from '../../http/limited-body.ts';

/** POST /webhooks: for everybody, because the signature proves the sender. */
export async function takeWebhook(context: Context, receive: (webhook: Webhook) => Admission): Promise<Response> {
  const body = await limitedBody(context.req.raw);
  if (body === null) return context.text('The body is larger than 64 KiB.\n', 413, { connection: 'close' });
  const admission = receive({ headers: context.req.raw.headers, body });
  if (admission === 'not wanted') return context.text('Webhooks are off: service.webhook_secret is not set.\n', 404);
  // A repeated one is a delivery whose first answer got lost, too: the service may stop repeating it.
  return admission === 'taken' || admission === 'repeated'
    ? context.body(null, 204)
    : context.text('The signature is missing, wrong or too old.\n', 401);
}
