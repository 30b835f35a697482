import { Hono } from 'hono';
import { z } from 'zod';
import { ApiError } from '../http/api-error.ts';
import { jsonBody, noBody, query, textField } from '../http/input.ts';
import { isoTime } from '../http/wire.ts';
import type { Delivery, Webhook } from '../store/webhooks.ts';
import type { Services } from '../services.ts';
import { webhookEvents } from './payload.ts';
import { mayReach } from './post.ts';

/**
 * Webhook routes under the admin side, because the API has no operations for webhooks. The mounting side checks access.
 */
export function createWebhookRoutes({
  records,
  webhooks,
  settings,
}: Pick<Services, 'records' | 'webhooks' | 'settings'>): Hono {
  const routes = new Hono();
  const store = records.webhooks;
  const body = registration(settings.importFrom);
  routes.get('/_sandbox/webhooks', (context) => context.json({ data: store.list().map(webhookItem) }));
  routes.post('/_sandbox/webhooks', async (context) => {
    const { url, events } = await jsonBody(context.req.raw, body);
    if (store.count() >= MOST_WEBHOOKS)
      throw new ApiError('conflict', `There are already ${MOST_WEBHOOKS} webhooks, the maximum. Delete one first.`);
    const webhook = webhooks.register(url, events);
    return context.json({ data: { ...webhookItem(webhook), secret: webhook.secret } }, 201);
  });
  routes.delete('/_sandbox/webhooks/:id', (context) => {
    if (!store.remove(context.req.param('id'))) throw noSuchWebhook();
    return context.body(null, 204);
  });
  routes.get('/_sandbox/webhooks/:id/deliveries', (context) => {
    const { limit } = query(context.req.raw, listQuery);
    const webhook = store.find(context.req.param('id'));
    if (!webhook) throw noSuchWebhook();
    return context.json({ data: store.deliveries(webhook.id, limit).map(deliveryItem) });
  });
  routes.post('/_sandbox/webhooks/:id/deliveries/:delivery/redeliver', async (context) => {
    await noBody(context.req.raw);
    const delivery = webhooks.redeliver(context.req.param('id'), context.req.param('delivery'));
    if (!delivery) throw new ApiError('not_found', 'There is no such delivery.');
    return context.json({ data: deliveryItem(delivery) }, 202);
  });
  return routes;
}

/** The webhook as listed, without its secret, which is shown only once. */
function webhookItem({ id, url, events, createdAtMs }: Webhook) {
  return { id, url, events, created_at: isoTime(createdAtMs) };
}

export function deliveryItem(delivery: Delivery) {
  const { id, event, attempts, status, error, body } = delivery;
  return {
    id,
    event,
    state: stateOf(delivery),
    attempts,
    /** Status of the last attempt. */
    status,
    error,
    created_at: isoTime(delivery.createdAtMs),
    next_attempt_at: delivery.dueAtMs === null ? null : isoTime(delivery.dueAtMs),
    delivered_at: delivery.deliveredAtMs === null ? null : isoTime(delivery.deliveredAtMs),
    payload: JSON.parse(body) as unknown,
  };
}

function stateOf({ deliveredAtMs, dueAtMs }: Delivery): 'delivered' | 'waiting' | 'given up' {
  if (deliveredAtMs !== null) return 'delivered';
  return dueAtMs === null ? 'given up' : 'waiting';
}

const MOST_WEBHOOKS = 100;

function registration(reach: 'loopback' | 'anywhere') {
  return z.strictObject({
    url: textField(2000)
      .refine(isWebAddress, { error: 'must be an http or https address without user name and password', abort: true })
      .refine(
        (url) => mayReach(new URL(url), reach),
        'must be an address of this machine; start the sandbox with --import-from anywhere to allow other hosts',
      ),
    events: z
      .array(z.enum(webhookEvents, `must be ${webhookEvents.join(', ')}`), 'must be an array of events')
      .min(1, 'must name at least one event')
      .transform((events) => [...new Set(events)])
      .default([...webhookEvents]),
  });
}

function isWebAddress(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && ['http:', 'https:'].includes(url.protocol) && url.username === '' && url.password === '';
}

const limit = 'must be an integer from 1 to 1000';

const listQuery = z.strictObject({
  limit: z
    .string()
    .regex(/^\d{1,4}$/, limit)
    .transform(Number)
    .refine((value) => value >= 1 && value <= 1000, limit)
    .default(100),
});

function noSuchWebhook(): ApiError {
  return new ApiError('not_found', 'There is no such webhook.');
}
