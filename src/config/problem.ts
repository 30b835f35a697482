import { isAbsolute, relative } from 'node:path';
import { escapeControls, quote } from '../log/unsafe-characters.ts';
import { formatKeyPath, type KeyPath } from './raw-tree.ts';

/** A line and column, both counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A mistake at a given place in the tree. `toProblem` adds file, line and column. */
export interface Finding {
  readonly path: KeyPath;
  readonly message: string;
  readonly severity: 'error' | 'warning';
  /** Where to point: `key` for the name (such as an unknown key), `value` for its value. */
  readonly at: 'key' | 'value';
  /** The exact position, if it is not the start of the key or value: a tag, or one of several duplicate keys. */
  readonly place?: Position;
  /** See {@link Problem.passing}. */
  readonly passing?: true;
}

/** One mistake in a configuration, for display. */
export interface Problem extends Position {
  /** Absolute path. */
  readonly file: string;
  /** The key, such as `folders[0].rules[1].chanel`; empty for the text as a whole. */
  readonly key: string;
  readonly message: string;
  readonly severity: 'error' | 'warning';
  /**
   * Whether the problem may resolve itself without a change, as when a disk is not mounted yet. The daemon starts
   * anyway and waits for that folder.
   */
  readonly passing?: true;
}

export function error(path: KeyPath, message: string): Finding {
  return { path, message, severity: 'error', at: 'value' };
}

export function warning(path: KeyPath, message: string): Finding {
  return { path, message, severity: 'warning', at: 'value' };
}

/** @param place position of the finding's key in the document */
export function toProblem({ path, message, severity, passing }: Finding, file: string, place: Position): Problem {
  return { file, ...place, key: formatKeyPath(path), message, severity, ...(passing && { passing }) };
}

/** Compares positions for sorting problems in file order. */
export function byPlace(a: Position, b: Position): number {
  return a.line - b.line || a.column - b.column;
}

/**
 * Formats a problem: `dropcast.yaml:12:5 folders[0].rules[1].chanel: unknown key, did you mean "channel"?`. The file is
 * shown relative to `cwd` if it is inside it.
 */
export function formatProblem(problem: Problem, cwd: string): string {
  const inside = relative(cwd, problem.file);
  const isElsewhere = inside === '' || inside.startsWith('..') || isAbsolute(inside);
  // Everything is below /, and a relative `etc/dropcast/dropcast.yaml` would be confusing.
  const file = isElsewhere || cwd === '/' ? problem.file : inside;
  const shown = escapeControls(file) === file ? file : quote(file);
  const key = problem.key === '' ? '' : `${problem.key}: `;
  const severity = problem.severity === 'warning' ? 'warning: ' : '';
  return `${shown}:${problem.line}:${problem.column} ${key}${severity}${escapeControls(problem.message)}`;
}
