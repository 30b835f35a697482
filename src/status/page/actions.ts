import { ignoreFile, retryFile } from './actions/file.ts';
import { actOnMany } from './actions/many.ts';
import type { Action } from './world.ts';

/** Every address of the page that changes something, for readers who may. All take POST. */
export const actions: readonly (readonly [path: string, action: Action])[] = [
  ['/files/many', actOnMany],
  ['/files/:id/retry', retryFile],
  ['/files/:id/ignore', ignoreFile],
];
