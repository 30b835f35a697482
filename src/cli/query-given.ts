import { resolve } from 'node:path';
import { queryWords, readQuery } from '../view/files/query.ts';
import type { FileQuery, QueryWord } from '../view/files/query.ts';
import { escapeControls } from '../log/unsafe-characters.ts';
import type { FileSelection } from '../pipeline/file/selection.ts';
import { CommandError, exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';

/** Options that select files, as in `dropcast ls`. */
export type SelectionOptions = Readonly<Partial<Record<Exclude<QueryWord, 'q'> | 'query', string>>>;

export interface QueryGiven {
  readonly query: FileQuery;
  readonly selection: FileSelection;
}

/** @throws {CommandError} when an option is invalid */
export function queryGiven(shell: Shell, options: SelectionOptions): QueryGiven {
  const { folder, query: q } = options;
  // An empty value is usually an unset shell variable. The command must not act on all files then.
  const empty = [...queryWords, 'query' as const].find((word) => options[word as keyof SelectionOptions] === '');
  if (empty !== undefined)
    throw new CommandError(`--${empty} is empty: give a value, or leave it out`, exitCodes.usage);
  const query = { ...options, q, ...(folder !== undefined && { folder: folderNamed(shell, folder) }) };
  const { selection, problems } = readQuery(query, Date.now());
  if (problems.length > 0) throw new CommandError(problems.map(escapeControls).join('\n'), exitCodes.usage);
  return { query, selection };
}

/**
 * Resolves a folder name. A folder that only another host has is given as `ls` shows it: `ingest2:/srv/in`, or `nas1:`
 * for a share.
 */
function folderNamed(shell: Shell, folder: string): string {
  return /^[^./][^/]*:(?:\/|$)/.test(folder) ? folder.replace(/\/+$/, '') : resolve(shell.cwd, folder);
}
