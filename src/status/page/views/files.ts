import { basename } from 'node:path/posix';
import {
  counted,
  emptyState,
  fileSize,
  grouped,
  table,
  visibleText,
  named,
  facts,
  type Html,
  type View,
  type Column,
} from '@dropcast/pages';
import { html } from 'hono/html';
import { filesIn, filesOf, settlingView, type FilesView, type SettlingView } from '../../../view/files/files-view.ts';
import { readQuery, type FileQuery } from '../../../view/files/query.ts';
import {
  filesAddress,
  queryOf,
  settlingAddress,
  stageBadge,
  hostName,
  moment,
  fileAddress,
  hidden,
  nameCell,
} from '../elements.ts';
import { filters, isFiltered } from '../files/filters.ts';
import { notice, bulkCommands } from '../files/bulk-commands.ts';
import { PageError, type Asked, type PageEvent, type PageWorld } from '../world.ts';
import type { FileView } from '../../../view/files/file-view.ts';
import { reasonWords } from '../../../view/files/progress-words.ts';

const perPage = 50;

/** Shows selected files, newest first. */
export async function files(
  { daemon, now, mayChange, memory }: PageWorld,
  { query: asked }: Asked,
): Promise<View<PageEvent>> {
  const query = queryOf(asked);
  const { selection, problems } = readQuery(query, now);
  const [after, before, upTo] = ['after', 'before', 'top'].map((word) => asked.get(word) ?? undefined);
  const isSettlingTold = selection.stages?.includes('settling') === true;
  const range = { after, before, upTo, limit: perPage };
  const view = await filesOf(daemon.ledger, daemon, { selection, range, isCounted: true, isSettlingTold });
  const outcome = memory.outcomes.find(asked.get('outcome'));
  const isFirst = after === undefined && before === undefined;
  const where = { ...selection, newerThan: upTo };
  const newer = isFirst && upTo !== undefined ? filesIn(await daemon.ledger.counts({ where, by: [] })) : 0;
  const live = filesAddress(query, { top: upTo ?? view.newest, outcome: asked.get('outcome') });
  const rows = fileRows(view.files, { now, hasTicks: mayChange });
  return {
    title: 'Files',
    section: '/files',
    changesWith: ['arrival', 'file', 'failure', 'command', 'progress'],
    aside: html`<span class="muted">${counted(view.total, 'file')}</span>`,
    body: html`${problems.map((problem) => html`<p class="warn">${problem}</p>`)} ${outcome && notice(outcome, query)}
      ${view.counts && filters(query, view.counts)}
      <section class="card" id="files" data-live-address="${isFirst && live}">
        ${newer > 0 && html`<p class="newer"><a href="${filesAddress(query)}">${grouped(newer)} new</a></p>`}
        ${view.settling.length > 0 && settlingRows(view.settling)}
        ${view.files.length + view.settling.length === 0 && nothing(query)}
        ${view.files.length > 0 && (mayChange ? manyForm(query, view.total, rows) : rows)} ${pages(query, view)}
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

/** Links to older and newer pages. Uses cursors, so that new rows do not shift a page. */
function pages(query: FileQuery, { next, previous }: FilesView): Html | '' {
  if (next === null && previous === null) return '';
  const to = (label: string, place: Readonly<Record<string, string>> = {}): Html =>
    html`<a href="${filesAddress(query, place)}">${label}</a>`;
  return html`<nav class="pages" aria-label="Pages">
    ${previous !== null && html`${to('Newest')} ${to('Newer', { before: previous })}`}
    ${next !== null && to('Older', { after: next })}
  </nav>`;
}

/**
 * A table of files with checkboxes, below a bar that stays in view. The bar's commands apply to the ticked files or to
 * all that match, and lead to a page that states the cost.
 */
function manyForm(query: FileQuery, total: number, rows: Html): Html {
  return html`<form method="get" action="/files/many" class="many" data-key="many">
    ${hidden(Object.entries(query))}
    <fieldset class="row">
      <legend class="unseen">Which files</legend>
      <label class="scripted"><input type="checkbox" data-ticks="id" /> Select all on this page</label>
      <label><input type="radio" name="which" value="ticked" checked /> The selected ones</label>
      <label><input type="radio" name="which" value="all" /> All ${counted(total, 'file')} that match</label>
      ${bulkCommands.map(({ name, label }) => html`<button name="do" value="${name}">${label}…</button>`)}
    </fieldset>
    ${rows}
  </form>`;
}

function settlingRows(files: readonly SettlingView[]): Html {
  return table({
    label: 'Settling files',
    items: files,
    keyOf: ({ path }) => path,
    columns: [
      { heading: 'File', kind: 'main', cell: ({ path }) => nameCell(path, settlingAddress(path)) },
      { heading: 'State', cell: ({ size }) => stageBadge({ stage: 'settling', state: 'settling', sent: null, size }) },
      { heading: 'Why', cell: ({ why }) => visibleText(why) },
      { heading: 'Size', kind: 'number', cell: ({ size }) => fileSize(size) },
    ],
  });
}

/**
 * Renders files, one per row, with the reason in the row. @param hasTicks adds a checkbox to each row, for commands on
 * many files
 */
export function fileRows(
  files: readonly FileView[],
  { now, hasTicks }: { readonly now: number; readonly hasTicks: boolean },
): Html {
  const tick: Column<FileView> = {
    heading: 'Tick',
    kind: 'picture',
    cell: ({ id, path }) =>
      html`<input type="checkbox" name="id" value="${id}" aria-label="Select ${visibleText(basename(path))}" />`,
  };
  const reasons = reasonsOf(files, now);
  return table({
    label: 'Files',
    items: files,
    keyOf: ({ id }) => id,
    columns: [
      ...(hasTicks ? [tick] : []),
      { heading: 'File', kind: 'main', cell: ({ id, path }) => nameCell(path, fileAddress(id)) },
      { heading: 'State', cell: stageBadge },
      ...(files.some(({ host }) => host !== null) ? [hostColumn] : []),
      {
        heading: 'Why, and what is next',
        cell: ({ id }) => html`<span class="reason">${reasons.get(id) ?? ''}</span>`,
      },
      { heading: 'Size', kind: 'number', cell: ({ size }) => fileSize(size) },
      { heading: 'When', kind: 'minor', cell: ({ times }) => moment(times.ended ?? times.discovered, now) },
    ],
  });
}

/** Maps file ids to reasons. A long reason shared by consecutive files is written once. */
function reasonsOf(files: readonly FileView[], now: number): ReadonlyMap<string, Html | string> {
  const words = files.map((file) => reasonWords(file, now));
  return new Map(
    files.map(({ id }, at) => {
      const reason = words[at] ?? '';
      const isRepeated = reason.length > longestRepeated && reason === words[at - 1];
      return [id, isRepeated ? html`<span class="muted">as above</span>` : visibleText(reason)];
    }),
  );
}

/** Longest reason repeated in each row, in characters: it fits on one line. */
const longestRepeated = 60;

/** Shown only in a fleet. */
const hostColumn: Column<FileView> = {
  heading: 'Host',
  kind: 'minor',
  cell: ({ host }) => (host === null ? '' : hostName(host)),
};

/**
 * Explains why a file without a row is waiting. @throws {PageError} 404 when no file with this path is settling or
 * known
 */
export async function settlingFile({ daemon }: PageWorld, { query }: Asked): Promise<View<PageEvent>> {
  const path = query.get('path') ?? '';
  const settling = daemon.folders.settling().map(settlingView);
  const file = settling.find((one) => one.path === path);
  const [known] = file === undefined ? await daemon.ledger.find(path) : [];
  if (file === undefined && `${known?.folder}/${known?.path}` !== path)
    throw new PageError(
      404,
      'No file is settling at this path. The file may be gone, or dropcast ignores it: see its folder.',
    );
  const name = basename(path);
  const about = ({ why, size }: SettlingView): Html =>
    facts([
      ['Path', named(path)],
      ['Waits', visibleText(why)],
      ['Size', fileSize(size)],
      ['Next', 'once it has settled, a rule matches it, or it is held with the reason'],
    ]);
  const link = html`<a href="${fileAddress(known?.id ?? '')}">Show the file</a>`;
  return {
    title: visibleText(name),
    heading: named(name),
    section: '/files',
    ...(file && { aside: stageBadge({ ...file, stage: 'settling', state: 'settling', sent: null }) }),
    changesWith: ['arrival', 'file', 'folder', 'command'],
    body: html`<section class="card">
      <div class="body">${file ? about(file) : html`<p class="reason">It has settled. ${link}</p>`}</div>
    </section>`,
  };
}
