import { configuration } from './views/configuration.ts';
import { events } from './views/events.ts';
import { file } from './views/file.ts';
import { files } from './views/files.ts';
import { folders } from './views/folders.ts';
import { many } from './views/many.ts';
import { overview } from './views/overview.ts';
import { settlingFile } from './views/settling-file.ts';
import type { ViewMaker } from './world.ts';

/** Every address of the page that shows something. */
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
