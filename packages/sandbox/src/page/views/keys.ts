import type { Context } from 'hono';
import { badge, confirmed, grouped, named, table, time, type Html } from '@dropcast/pages';
import { html } from 'hono/html';
import type { Services } from '../../services.ts';
import type { View } from '../layout.ts';
import type { ShownOnce } from '../actions.ts';
import { KeyDesk, keyId, type KeyView } from '../../admin/keys.ts';

type KeyParts = Pick<Services, 'records' | 'clock' | 'events' | 'requestWindow'>;

/** View of the API keys without their values. A value is shown once, when the key is new (api-spec section 5). */
export function keys(parts: KeyParts, shownOnce: ShownOnce): (context: Context) => View {
  const desk = new KeyDesk({ keys: parts.records.keys, clock: parts.clock, events: parts.events });
  return (context) => ({
    title: 'API keys',
    section: '/_page/keys',
    changesWith: ['key.changed', 'request'],
    body: html`${newKey(shownOnce.take(context.req.query('new')))}
      <section class="card" id="create">
        <div class="head"><h2>New key</h2></div>
        <form class="body" method="post" action="/_page/keys">
          <div class="row">
            <label>Name <input name="name" required maxlength="200" autocomplete="off" /></label>
            <label class="check"><input type="checkbox" name="read_only" value="true" /> Read-only</label>
            <button class="main">Create the key</button>
          </div>
        </form>
      </section>
      <section class="card" id="keys">${keyTable(desk.list())}</section>`,
  });
}

function newKey(value: string | undefined): Html | '' {
  if (value === undefined) return '';
  return html`<section class="once" id="new-key" data-keep>
    <h2>The new key</h2>
    <p><code>${value}</code></p>
    <p>Copy it now; it is shown only once.</p>
  </section>`;
}

function keyTable(list: readonly KeyView[]): Html {
  return table({
    label: 'API keys',
    items: list.toReversed(),
    keyOf: ({ id }) => id,
    columns: [
      {
        heading: 'Name',
        kind: 'main',
        cell: ({ id, name, hint }) =>
          html`<span class="title">${named(name)}</span><code class="under">${id} · ${hint}</code>`,
      },
      { heading: 'State', cell: stateOf },
      { heading: 'May', kind: 'minor', cell: ({ read_only: isReadOnly }) => (isReadOnly ? 'read' : 'read and change') },
      { heading: 'Created', kind: 'minor', cell: ({ created_at: at }) => time(Date.parse(at)) },
      { heading: 'Last used', kind: 'minor', cell: lastUse },
      {
        heading: 'Uses',
        kind: 'number',
        cell: ({ id, use_count: count }) => html`<a href="/_page/requests?key=${id}">${grouped(count)}</a>`,
      },
      { heading: 'Revoke', cell: revocation },
    ],
  });
}

function stateOf({ revoked_at: at }: KeyView): Html {
  return at === null ? badge('good', 'valid') : badge('bad', 'revoked');
}

function lastUse({ last_used_at: at, last_used_from: from }: KeyView): Html | string {
  if (at === null) return 'never';
  return html`${time(Date.parse(at))}<span class="under">from ${from ?? 'somewhere'}</span>`;
}

function revocation({ id, revoked_at: at }: KeyView): Html {
  if (at !== null) return time(Date.parse(at));
  return confirmed(`/_page/keys/${id}/revoke`, {
    first: 'Revoke…',
    question: 'Its clients lose access at once.',
    second: 'Revoke the key',
  });
}

/** Shows how much of the limit each key has used in the last hour. */
export function keyUsage({
  records,
  requestWindow,
  clock,
}: Pick<Services, 'records' | 'requestWindow' | 'clock'>): Html {
  const { limit } = requestWindow;
  const used = records.keys
    .list()
    .filter(({ revokedAtMs }) => revokedAtMs === null)
    .map((key) => ({ ...key, count: requestWindow.used(key.id, clock.nowMs()) }))
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => other.count - one.count);
  return html`<ul class="findings">
    ${used.slice(0, 5).map(
      ({ id, name, count }) =>
        html`<li data-key="${keyId(id)}">
          <label
            ><span>${named(name)}: ${grouped(count)} in the last hour</span
            ><progress max="${limit}" value="${Math.min(count, limit)}"></progress
          ></label>
        </li>`,
    )}
  </ul>`;
}
