import type { KeyPath } from './key-path.ts';

/** Line and column, both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Something wrong at a place in the tree; `load.ts` turns it into a problem with line and column. */
export interface Finding {
  readonly path: KeyPath;
  readonly message: string;
  readonly severity: 'error' | 'warning';
  /** `key` points at the name (an unknown key), `value` at what stands there. */
  readonly at: 'key' | 'value';
  /** Where exactly, when that is not where the key or value starts: a tag, one of several equal keys. */
  readonly place?: Position;
  /** See `Problem` of `load.ts`. */
  readonly passing?: true;
}

export function error(path: KeyPath, message: string): Finding {
  return { path, message, severity: 'error', at: 'value' };
}

export function warning(path: KeyPath, message: string): Finding {
  return { path, message, severity: 'warning', at: 'value' };
}
