import { fileSize, named, table, visibleText } from '@dropcast/pages';
import type { Html } from '@dropcast/pages';
import { html } from 'hono/html';
import { basename, dirname } from 'node:path/posix';
import type { SettlingView } from '../../../view/files/files-view.ts';
import { settlingAddress } from './address.ts';
import { stageBadge } from './stage-badge.ts';

/** Files that settle, and what each waits for. */
export function settlingRows(files: readonly SettlingView[]): Html {
  return table({
    label: 'Settling files',
    items: files,
    keyOf: ({ path }) => path,
    columns: [
      {
        heading: 'File',
        kind: 'main',
        cell: ({ path }) =>
          html`<a href="${settlingAddress(path)}">${named(basename(path))}</a>
            <span class="under">${named(dirname(path))}</span>`,
      },
      { heading: 'State', cell: ({ size }) => stageBadge({ stage: 'settling', state: 'settling', sent: null, size }) },
      { heading: 'Why', cell: ({ why }) => visibleText(why) },
      { heading: 'Size', kind: 'number', cell: ({ size }) => fileSize(size) },
    ],
  });
}
