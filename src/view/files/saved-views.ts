import { needsYou } from './query.ts';
import type { FileQuery } from './query.ts';

/** Selections that people ask for every day, each a plain address. */
export const savedViews: readonly (readonly [name: string, query: FileQuery])[] = [
  ['All', {}],
  ['Needs you', { state: needsYou }],
  ['Today', { since: 'today' }],
  ['Done today', { state: 'done', since: 'today' }],
  ['Held', { state: 'held' }],
];
