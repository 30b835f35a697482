import type { Context } from 'hono';
import {
  badge,
  button,
  counted,
  emptyState,
  named,
  pagination,
  select,
  span,
  table,
  time,
  type Html,
} from '@dropcast/pages';
import { html } from 'hono/html';
import { z } from 'zod';
import type { InspectedRequest } from '../../inspector/details.ts';
import { isWanted } from '../../inspector/request-filter.ts';
import { query } from '../../http/input.ts';
import type { JournalEntry } from '../../http/journal-entry.ts';
import { isAboutFiles, openOperations, operations } from '../../http/operations.ts';
import type { Services } from '../../services.ts';
import { type View, optionalChoice, optionalText, page, PER_PAGE } from '../layout.ts';
import { keyId } from '../../admin/keys.ts';
import { kindInWords } from '../fault-presets.ts';

type RequestParts = Pick<Services, 'journal' | 'records' | 'links'>;

/** View of requests and their answers, newest first, excluding the page's own. */
export function requests(parts: RequestParts): (context: Context) => View {
  return (context) => {
    const wanted = query(context.req.raw, asked);
    const found = parts.journal.inspected().filter((request) => isShown(request, wanted));
    const from = (wanted.page - 1) * PER_PAGE;
    const entries = found.toReversed().slice(from, from + PER_PAGE);
    const { page, ...filter } = wanted;
    return {
      title: 'Requests',
      section: '/_page/requests',
      changesWith: ['request', 'key.changed'],
      aside: html`<div class="row middle">
        <span class="muted">${counted(found.length, 'request')}</span>${button('/_page/requests/clear', 'Clear all')}
      </div>`,
      body: html`${filterForm(wanted, parts)}
        <section class="card" id="requests">
          ${entries.length === 0 ? nothing(parts) : requestTable('Requests, newest first', entries)}
          ${pagination({ page, perPage: PER_PAGE, total: found.length, filter })}
        </section>`,
    };
  };
}

const NAMES = [...operations, ...openOperations].map(({ name }) => name);
const OPERATIONS = [...NAMES, 'uploads.put', 'unknown'] as const;
const STATUSES = ['2xx', '3xx', '4xx', '5xx', '429', '0'] as const;

const asked = z.strictObject({
  operation: optionalChoice(OPERATIONS),
  status: optionalChoice(STATUSES),
  key: optionalText,
  path: optionalText,
  text: optionalText,
  video_id: optionalText,
  fault: optionalChoice(['hit']),
  files: optionalChoice(['too']),
  page,
});

type Asked = z.output<typeof asked>;

/**
 * Returns whether a request is listed. File reads are hidden by default: most requests are for thumbnails, players and
 * media, mainly from this page.
 */
function isShown(request: InspectedRequest, { fault, files, page: _page, ...filter }: Asked): boolean {
  if (files === undefined && isAboutFiles(request.path)) return false;
  return isWanted(request, fault === undefined ? filter : { ...filter, fault: 'any' });
}

function filterForm(
  { operation, status, key, path, text, video_id: videoId, fault, files }: Asked,
  { records }: RequestParts,
): Html {
  const all = (label: string, choices: readonly { value: string; label: string }[]) => [
    { value: '', label },
    ...choices,
  ];
  const keys = records.keys.list().map(({ id, name }) => ({ value: keyId(id), label: name }));
  const check = (name: string, value: string, label: string, isOn: boolean) =>
    html`<label class="check"
      ><input type="checkbox" name="${name}" value="${value}" ${isOn ? 'checked' : ''} /> ${label}</label
    >`;
  const field = (name: string, label: string, value = '') =>
    html`<label
      >${label} <input name="${name}" value="${value}" maxlength="200" size="14" autocomplete="off"
    /></label>`;
  return html`<form method="get" class="row" id="filter">
    ${select(
      'operation',
      'Operation',
      operation,
      all(
        'All',
        OPERATIONS.map((value) => ({ value, label: value })),
      ),
    )}
    ${select(
      'status',
      'Status',
      status,
      all(
        'All',
        STATUSES.map((value) => ({ value, label: value === '0' ? 'no answer' : value })),
      ),
    )}
    ${select('key', 'Key', key, all('All', [...keys, { value: 'none', label: 'no valid key' }]))}
    ${field('path', 'Path', path)} ${field('video_id', 'Video id', videoId)} ${field('text', 'Text in a body', text)}
    ${check('fault', 'hit', 'With fault', fault !== undefined)}
    ${check('files', 'too', 'Include files and players', files !== undefined)}
    <button>Show</button>
  </form>`;
}

function nothing({ links }: RequestParts): Html {
  return emptyState(
    'No matching requests yet.',
    `curl ${links.origin}/v1/videos -H "Authorization: Bearer $DROPCAST_API_KEY"`,
  );
}

export function requestTable(label: string, entries: readonly JournalEntry[]): Html {
  return table({
    label,
    items: entries,
    keyOf: ({ number }) => `request-${number}`,
    columns: [
      { heading: 'Time', kind: 'minor', cell: ({ atMs }) => time(atMs) },
      {
        heading: 'Request',
        kind: 'main',
        cell: ({ number, method, path, query }) =>
          html`<a href="/_page/requests/${number}"><code>${method} ${named(targetOf({ path, query }))}</code></a>`,
      },
      { heading: 'Operation', kind: 'minor', cell: ({ operation }) => (operation === 'unknown' ? '–' : operation) },
      {
        heading: 'Key',
        kind: 'minor',
        cell: ({ keyId: key }) => (key === null ? '–' : html`<code>${keyId(key)}</code>`),
      },
      { heading: 'Status', cell: statusOf },
      { heading: 'Took', kind: 'number', cell: ({ durationMs }) => (durationMs === null ? '…' : span(durationMs)) },
      { heading: 'Fault', cell: ({ fault }) => (fault === null ? '' : badge('notice', kindInWords(fault))) },
    ],
  });
}

/** Returns path and query as received. */
export function targetOf({ path, query }: Pick<JournalEntry, 'path' | 'query'>): string {
  return query === '' ? path : `${path}?${query}`;
}

/** Shows the answer's status, or why there is no answer. */
export function statusOf({ status, durationMs }: Pick<JournalEntry, 'status' | 'durationMs'>): Html {
  if (status !== 0) return html`<span class="codes ${status >= 400 ? 'bad' : ''}">${status}</span>`;
  return html`<span class="codes ${durationMs === null ? '' : 'bad'}"
    >${durationMs === null ? 'under way' : 'no answer'}</span
  >`;
}
