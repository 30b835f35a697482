import type { FileQuery } from './query.ts';

/** Selections that people ask for every day, each a plain address. */
export const savedViews: readonly (readonly [name: string, query: FileQuery])[] = [
  ['All', {}],
  ['Needs you', { state: 'failed,held' }],
  ['Today', { since: 'today' }],
  ['Live today', { state: 'done', since: 'today' }],
  ['Held', { state: 'held' }],
];
