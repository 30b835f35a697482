import type { Context } from 'hono';
import {
  badge,
  button,
  confirmed,
  emptyState,
  named,
  table,
  time,
  unseen,
  visibleLines,
  type Html,
} from '@dropcast/pages';
import { html } from 'hono/html';
import type { Webhook } from '../../store/webhooks.ts';
import { deliveryItem } from '../../webhooks/routes.ts';
import type { Services } from '../../services.ts';
import type { View } from '../layout.ts';
import type { ShownOnce } from '../actions.ts';
import { webhookEvents } from '../../webhooks/webhooks.ts';

type WebhookParts = Pick<Services, 'records'>;

/** View of the registered webhooks and their latest deliveries, without the secrets. */
export function webhooks({ records }: WebhookParts, shownOnce: ShownOnce): (context: Context) => View {
  return (context) => {
    const list = records.webhooks.list();
    return {
      title: 'Webhooks',
      section: '/_page/webhooks',
      changesWith: ['webhook.changed', 'video.ready', 'video.failed', 'feed.published'],
      body: html`${newSecret(shownOnce.take(context.req.query('new')))} ${registration()}
      ${list.length === 0 ? html`<section class="card" id="webhooks">${emptyState('No webhooks yet.')}</section>` : ''}
      ${list.map((webhook) => deliveries(webhook, { records }))}`,
    };
  };
}

function newSecret(secret: string | undefined): Html | '' {
  if (secret === undefined) return '';
  return html`<section class="once" id="new-secret" data-keep>
    <h2>Secret of the new webhook</h2>
    <p><code>${secret}</code></p>
    <p>Copy it now; it is shown only once. Receivers use it to check signatures.</p>
  </section>`;
}

function registration(): Html {
  return html`<section class="card" id="create">
    <div class="head"><h2>New webhook</h2></div>
    <form class="body" method="post" action="/_page/webhooks">
      <div class="row">
        <label
          >Address
          <input name="url" type="url" required maxlength="2000" size="36" placeholder="http://127.0.0.1:9000/hook"
        /></label>
        <fieldset>
          <legend>Events</legend>
          <div class="row">
            ${webhookEvents.map((event) => html`<label class="check"><input type="checkbox" name="events" value="${event}" checked /> ${event}</label>`)}
          </div>
        </fieldset>
        <button class="main">Register</button>
      </div>
    </form>
  </section>`;
}

function deliveries(webhook: Webhook, { records }: WebhookParts): Html {
  const latest = records.webhooks.deliveries(webhook.id, MOST_SHOWN).map(deliveryItem);
  return html`<section class="card" id="${webhook.id}">
    <div class="head">
      <h2><code>${named(webhook.url)}</code></h2>
      ${confirmed(`/_page/webhooks/${webhook.id}/delete`, { first: 'Delete…', question: 'Deletes its deliveries too.', second: 'Delete the webhook' })}
    </div>
    <div class="body"><p class="muted">${webhook.id} · ${webhook.events.join(', ')}</p></div>
    ${
      latest.length === 0
        ? emptyState('No deliveries yet.')
        : table({
            label: `Latest deliveries to ${webhook.id}`,
            items: latest,
            keyOf: ({ id }) => id,
            columns: [
              {
                heading: 'Delivery',
                kind: 'main',
                cell: ({ event, id, payload }) =>
                  html`${event}<code class="under">${id}</code>${sentBody(payload, id)}`,
              },
              { heading: 'State', cell: ({ state }) => badge(STATES[state], state) },
              { heading: 'Attempts', kind: 'number', cell: ({ attempts }) => String(attempts) },
              { heading: 'Delivered', kind: 'minor', cell: whenDelivered },
              {
                heading: 'Last answer',
                kind: 'minor',
                cell: ({ status, error }) => html`${status ?? ''} ${error ?? ''}`,
              },
              { heading: 'Created', kind: 'minor', cell: ({ created_at: at }) => time(Date.parse(at)) },
              {
                heading: 'Repeat',
                cell: ({ id }) =>
                  button(
                    `/_page/webhooks/${webhook.id}/deliveries/${id}/redeliver`,
                    html`Deliver again${unseen(` ${id}`)}`,
                  ),
              },
            ],
          })
    }
  </section>`;
}

/** Shows the body that the receiver gets, indented. */
function sentBody(payload: unknown, id: string): Html {
  return html`<details>
    <summary>Payload${unseen(` of ${id}`)}</summary>
    <pre class="source" tabindex="0" role="region" aria-label="Payload of ${id}">
${visibleLines(JSON.stringify(payload, null, 2))}</pre>
  </details>`;
}

function whenDelivered({ delivered_at: deliveredAt, next_attempt_at: nextAt }: DeliveryItem): Html | string {
  if (deliveredAt !== null) return time(Date.parse(deliveredAt));
  return nextAt === null ? '–' : html`next at ${time(Date.parse(nextAt))}`;
}

type DeliveryItem = ReturnType<typeof deliveryItem>;

const MOST_SHOWN = 10;
const STATES = { delivered: 'good', waiting: 'busy', 'given up': 'bad' } as const;
