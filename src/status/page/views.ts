import { folders } from './views/folders.ts';
import { overview } from './views/overview.ts';
import type { ViewMaker } from './world.ts';

/** Every address of the page that shows something. */
export const views: readonly (readonly [path: string, view: ViewMaker])[] = [
  ['/', overview],
  ['/folders', folders],
];
