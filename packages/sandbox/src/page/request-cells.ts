import { html } from 'hono/html';
import { keyId } from '../admin/key-desk.ts';
import type { JournalEntry } from '../http/journal.ts';
import { badge, named, table, time, type Html } from './elements.ts';
import { span } from './words.ts';

export function requestTable(label: string, entries: readonly JournalEntry[]): Html {
  return table({
    label,
    items: entries,
    keyOf: ({ number }) => `request-${number}`,
    columns: [
      { heading: 'Time', kind: 'minor', cell: ({ atMs }) => time(atMs) },
      { heading: 'Request', kind: 'main', cell: ({ method, path }) => html`<code>${method} ${named(path)}</code>` },
      { heading: 'Operation', kind: 'minor', cell: ({ operation }) => (operation === 'unknown' ? '–' : operation) },
      {
        heading: 'Key',
        kind: 'minor',
        cell: ({ keyId: key }) => (key === null ? '–' : html`<code>${keyId(key)}</code>`),
      },
      { heading: 'Status', cell: statusOf },
      { heading: 'Took', kind: 'number', cell: ({ durationMs }) => (durationMs === null ? '…' : span(durationMs)) },
      { heading: 'Fault', cell: ({ fault }) => (fault === null ? '' : badge('on', fault)) },
    ],
  });
}

function statusOf({ status, durationMs }: JournalEntry): Html {
  if (status !== 0) return html`<span class="codes ${status >= 400 ? 'bad' : ''}">${status}</span>`;
  return html`<span class="codes ${durationMs === null ? '' : 'bad'}"
    >${durationMs === null ? 'under way' : 'no answer'}</span
  >`;
}
