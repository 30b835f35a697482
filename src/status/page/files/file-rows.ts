import { fileSize, named, table } from '@dropcast/pages';
import type { Column, Html } from '@dropcast/pages';
import { html } from 'hono/html';
import { basename, dirname } from 'node:path/posix';
import type { FileView } from '../../../view/files/file-view.ts';
import { reasonWords } from '../../../view/files/next-words.ts';
import { hostName } from '../host-name.ts';
import { moment } from '../moment.ts';
import { fileAddress } from './address.ts';
import { stageBadge } from './stage-badge.ts';
import { visibleText } from '@dropcast/pages';

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
      { heading: 'File', kind: 'main', cell: nameCell },
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

function nameCell({ id, path }: FileView): Html {
  return html`<a href="${fileAddress(id)}">${named(basename(path))}</a>
    <span class="under">${named(dirname(path))}</span>`;
}
