import { z } from 'zod';
import { ApiError } from '../http/api-error.ts';
import { isWebAddress, jsonBody, noBody, pageNumber, query, textField, type Endpoint } from '../http/input.ts';
import { isoTime, isoTimeOrNull } from '../http/wire.ts';
import type { Delivery, Webhook } from '../store/webhooks.ts';
import type { Services } from '../services.ts';
import { mayReach } from './post.ts';
import { webhookEvents } from './webhooks.ts';

/** Endpoints for webhooks, on the admin side because the API has no operations for them. */
export function webhookEndpoints({
  records: { webhooks: store },
  webhooks,
  settings,
}: Pick<Services, 'records' | 'webhooks' | 'settings'>): Endpoint[] {
  const body = registration(settings.importFrom);
  return [
    {
      method: 'GET',
      path: '/_sandbox/webhooks',
      says: 'Lists the registered webhooks.',
      handler: (context) => context.json({ data: store.list().map(webhookItem) }),
    },
    {
      method: 'POST',
      path: '/_sandbox/webhooks',
      says: 'Registers a webhook with {"url", "events"?}. Only this answer has its secret.',
      handler: async (context) => {
        const { url, events } = await jsonBody(context.req.raw, body);
        if (store.count() >= MOST_WEBHOOKS)
          throw new ApiError('conflict', `There are already ${MOST_WEBHOOKS} webhooks, the maximum. Delete one first.`);
        const webhook = webhooks.register(url, events);
        return context.json({ data: { ...webhookItem(webhook), secret: webhook.secret } }, 201);
      },
    },
    {
      method: 'DELETE',
      path: '/_sandbox/webhooks/:id',
      says: 'Removes a webhook and its deliveries.',
      handler: (context) => {
        if (!store.remove(context.req.param('id') ?? '')) throw noSuchWebhook();
        return context.body(null, 204);
      },
    },
    {
      method: 'GET',
      path: '/_sandbox/webhooks/:id/deliveries',
      says: 'Lists the deliveries, newest first; ?limit=100.',
      handler: (context) => {
        const { limit } = query(context.req.raw, listQuery);
        const webhook = store.find(context.req.param('id') ?? '');
        if (!webhook) throw noSuchWebhook();
        return context.json({ data: store.deliveries(webhook.id, limit).map(deliveryItem) });
      },
    },
    {
      method: 'POST',
      path: '/_sandbox/webhooks/:id/deliveries/:delivery/redeliver',
      says: 'Delivers it again, starting with the first attempt.',
      handler: async (context) => {
        await noBody(context.req.raw);
        const { id = '', delivery: deliveryId = '' } = context.req.param();
        const delivery = webhooks.redeliver(id, deliveryId);
        if (!delivery) throw new ApiError('not_found', 'There is no such delivery.');
        return context.json({ data: deliveryItem(delivery) }, 202);
      },
    },
  ];
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
    next_attempt_at: isoTimeOrNull(delivery.dueAtMs),
    delivered_at: isoTimeOrNull(delivery.deliveredAtMs),
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

const listQuery = z.strictObject({ limit: pageNumber(1000).default(100) });

function noSuchWebhook(): ApiError {
  return new ApiError('not_found', 'There is no such webhook.');
}
