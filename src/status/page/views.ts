import { basename } from 'node:path/posix';
import { facts, fileSize, named, visibleText, type View } from '@dropcast/pages';
import { html } from 'hono/html';
import { configuration } from './views/configuration.ts';
import { events } from './views/events.ts';
import { file } from './views/file.ts';
import { files } from './views/files.ts';
import { folders } from './views/folders.ts';
import { many } from './views/many.ts';
import { overview } from './views/overview.ts';
import { PageError, type Asked, type PageEvent, type PageWorld, type ViewMaker } from './world.ts';
import { settlingView } from '../../view/files/files-view.ts';
import { fileAddress, stageBadge } from './elements.ts';

/** Every page address that shows a view. */
export const views: readonly (readonly [path: string, view: ViewMaker])[] = [
  ['/', overview],
  ['/files', files],
  ['/files/many', many],
  ['/files/settling', settlingFile],
  ['/files/:id', file],
  ['/folders', folders],
  ['/events', events],
  ['/configuration', configuration],
];

/**
 * Explains why a file without a row is waiting. @throws {PageError} 404 when no file with this path is settling or
 * known
 */
export async function settlingFile({ daemon }: PageWorld, { query }: Asked): Promise<View<PageEvent>> {
  const path = query.get('path') ?? '';
  const file = daemon.folders
    .settling()
    .map(settlingView)
    .find((one) => one.path === path);
  const [known] = file === undefined ? await daemon.ledger.find(path) : [];
  const isKnown = known !== undefined && `${known.folder}/${known.path}` === path;
  if (file === undefined && !isKnown)
    throw new PageError(
      404,
      'No file is settling at this path. The file may be gone, or dropcast ignores it: see its folder.',
    );
  return {
    title: visibleText(basename(path)),
    heading: named(basename(path)),
    section: '/files',
    aside: file === undefined ? html`` : stageBadge({ ...file, stage: 'settling', state: 'settling', sent: null }),
    changesWith: ['arrival', 'file', 'folder', 'command'],
    body: html`<section class="card">
      <div class="body">
        ${
          file === undefined
            ? html`<p class="reason">It has settled. <a href="${fileAddress(known?.id ?? '')}">Show the file</a></p>`
            : facts([
                ['Path', named(path)],
                ['Waits', visibleText(file.why)],
                ['Size', fileSize(file.size)],
                ['Next', 'once it has settled, a rule matches it, or it is held with the reason'],
              ])
        }
      </div>
    </section>`,
  };
}
