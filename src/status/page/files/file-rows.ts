import { fileSize, named, table } from '@dropcast/pages';
import type { Column, Html } from '@dropcast/pages';
import { html } from 'hono/html';
import { basename, dirname } from 'node:path/posix';
import type { FileView } from '../../../daemon/files/file-view.ts';
import { reasonWords } from '../../../daemon/files/next-words.ts';
import { hostName } from '../host-name.ts';
import { moment } from '../moment.ts';
import { fileAddress } from './address.ts';
import { stageBadge } from './stage-badge.ts';
import { visibleText } from '@dropcast/pages';

/** Files, one per row, with the reason in the row. @param hasTicks a box before each, for commands on many */
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
        cell: (file) => html`<span class="reason">${visibleText(reasonWords(file, now))}</span>`,
      },
      { heading: 'Size', kind: 'number', cell: ({ size }) => fileSize(size) },
      { heading: 'When', kind: 'minor', cell: ({ times }) => moment(times.ended ?? times.discovered, now) },
    ],
  });
}

/** Of a fleet alone. */
const hostColumn: Column<FileView> = {
  heading: 'Host',
  kind: 'minor',
  cell: ({ host }) => (host === null ? '' : hostName(host)),
};

function nameCell({ id, path }: FileView): Html {
  return html`<a href="${fileAddress(id)}">${named(basename(path))}</a>
    <span class="under">${named(dirname(path))}</span>`;
}
