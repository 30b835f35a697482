import { counted, emptyState, grouped } from '@dropcast/pages';
import type { Html, View } from '@dropcast/pages';
import { html } from 'hono/html';
import { filesOf } from '../../../view/files/files-view.ts';
import type { FilesView } from '../../../view/files/files-view.ts';
import { readQuery } from '../../../view/files/query.ts';
import type { FileQuery } from '../../../view/files/query.ts';
import { filesAddress, queryOf } from '../files/address.ts';
import { fileRows } from '../files/file-rows.ts';
import { filters, isFiltered } from '../files/filters.ts';
import { manyForm } from '../files/many-form.ts';
import { notice, noticeOf } from '../files/notice.ts';
import { settlingRows } from '../files/settling-rows.ts';
import type { Asked, PageEvent, PageWorld } from '../world.ts';

const perPage = 50;

/** Files by what they have in common, newest first. */
export async function files(
  { daemon, now, mayChange, outcomes }: PageWorld,
  { query: asked }: Asked,
): Promise<View<PageEvent>> {
  const query = queryOf(asked);
  const { selection, problems } = readQuery(query, now);
  const [after, before, upTo] = ['after', 'before', 'top'].map((word) => asked.get(word) ?? undefined);
  const range = { after, before, upTo, limit: perPage };
  const settlingFirst = selection.stages?.includes('settling') === true;
  const view = await filesOf(daemon.ledger, daemon, {
    selection,
    range,
    isCounted: true,
    isSettlingTold: settlingFirst,
  });
  const done = noticeOf(asked);
  const counts = view.counts;
  const isFirst = after === undefined && before === undefined;
  const newer = isFirst && upTo !== undefined ? await daemon.ledger.selection.count(selection, upTo) : 0;
  const title = counted(view.total, 'file');
  const isEmpty = view.files.length + view.settling.length === 0;
  const rows = fileRows(view.files, { now, hasTicks: mayChange });
  return {
    title: 'Files',
    section: '/files',
    changesWith: ['arrival', 'file', 'failure', 'command', 'progress'],
    aside: html`<span class="muted">${title}</span>`,
    body: html`${problems.map((problem) => html`<p class="warn">${problem}</p>`)}
      ${notice(done, { query, outcome: outcomes.find(asked.get('outcome') ?? '') })}
      ${counts === undefined ? '' : filters(query, counts)}
      <section
        class="card"
        id="files"
        data-live-address="${isFirst ? filesAddress(query, { top: upTo ?? view.newest ?? undefined, ...done, outcome: asked.get('outcome') ?? undefined }) : ''}"
      >
        ${newer === 0 ? '' : html`<p class="newer"><a href="${filesAddress(query)}">${grouped(newer)} new</a></p>`}
        ${view.settling.length === 0 ? '' : settlingRows(view.settling)} ${isEmpty ? nothing(query) : ''}
        ${view.files.length === 0 ? '' : mayChange ? manyForm(query, view.total, rows) : rows} ${pages(query, view)}
      </section>`,
  };
}

function nothing(query: FileQuery): Html {
  return isFiltered(query)
    ? html`<div class="empty">
        <p>No file matches. <a href="/files">Show all files</a></p>
      </div>`
    : emptyState('No files yet. Copy a video into a watched folder.');
}

/** Older and newer: cursors, so that rows which come meanwhile move nothing. */
function pages(query: FileQuery, { next, previous }: FilesView): Html | '' {
  if (next === null && previous === null) return '';
  const to = (place: Readonly<Record<string, string>>, label: string, isThere: boolean): Html | '' =>
    isThere ? html`<a href="${filesAddress(query, place)}">${label}</a>` : '';
  return html`<nav class="pages" aria-label="Pages">
    ${to({}, 'Newest', previous !== null)} ${to({ before: previous ?? '' }, 'Newer', previous !== null)}
    ${to({ after: next ?? '' }, 'Older', next !== null)}
  </nav>`;
}
