import { relative } from 'node:path';
import type { FileView } from '../../view/files/file-view.ts';
import { progressWords } from '../../view/files/progress-words.ts';
import type { SettlingView } from '../../view/files/files-view.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { Style } from '../../log/colour.ts';
import { dayAndTime } from '../../view/words/text.ts';
import { formatBytes, formatRelative, UNKNOWN } from './format.ts';
import { tableOf } from './table.ts';
import type { ColumnOf } from './table.ts';
import type { Shell } from '../shell.ts';

/** Formats files as a table, one per row. The HOST column appears only in a fleet. */
export function fileTable(files: readonly FileView[], shell: Shell, settling: readonly SettlingView[] = []): string {
  const hasHosts = files.some(({ host }) => host !== null);
  /** A cell of a known file; a file that is settling is in no ledger yet. */
  const of =
    (cell: (file: FileView) => string | null, unknown = UNKNOWN) =>
    (row: FileView | SettlingView) =>
      'id' in row ? (cell(row) ?? UNKNOWN) : unknown;
  const columns: readonly ColumnOf<FileView | SettlingView>[] = [
    ['STATE', of(({ stage }) => stage, 'settling'), { style: stageStyle }],
    ['ID', of(({ id }) => id)],
    ...(hasHosts ? [['HOST', of(({ host }) => host)] as const] : []),
    ['FILE', ({ path }) => shortPath(path, shell), { cut: 'middle' }],
    ['ARRIVED', of(({ times }) => dayAndTime(times.discovered))],
    ['SIZE', ({ size }) => formatBytes(size), { align: 'right' }],
    ['CHANNEL', of(({ channel }) => channel)],
    ['TAGS', of(({ tags }) => tags.join(', '), ''), { cut: 'end', isOptional: true }],
    ['VIDEO', of((file) => file.video_id), { isOptional: true }],
    ['WHY', (row) => ('id' in row ? whyOf(row) : row.why), { cut: 'end' }],
  ];
  return tableOf([...settling, ...files], columns, shell);
}

/** Shortens a path below the current directory to a relative one. */
export function shortPath(path: string, shell: Shell): string {
  const short = relative(shell.cwd, path);
  if (short.startsWith('..')) return path;
  // A leading dash would make the path an option when pasted after a command.
  return short.startsWith('-') ? `./${short}` : short;
}

/** Why the file is in its state, how far it is, and when it continues; empty if there is nothing to report. */
export function whyOf(file: FileView): string {
  if (file.state === 'done') return unfinished.includes(file.local ?? '') ? (file.why ?? '') : '';
  const next = file.not_before === null ? '' : ` (next attempt ${formatRelative(file.not_before, Date.now())})`;
  const why = `${file.why ?? ''}${next}`;
  const progress = progressWords(file, Date.now());
  if (progress === null) return why;
  if (why === '') return progress;
  return file.state === 'uploading' ? `${progress}; last attempt: ${why}` : `${why}; ${progress}`;
}

/** Values of `local` for which something is still to be done to the local file. */
const unfinished: readonly string[] = ['later', 'pending', 'waiting', 'refused'] satisfies Facts['disposal'][];

/** @param stage the current stage, or the final state */
export function stageStyle(stage: string): Style | null {
  if (stage === 'done') return 'green';
  if (stage === 'failed') return 'red';
  return stage === 'held' ? 'yellow' : null;
}
