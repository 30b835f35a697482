import type { Action } from './world.ts';

/** Every address of the page that changes something, for readers who may. All take POST. */
export const actions: readonly (readonly [path: string, action: Action])[] = [];
