import { relative } from 'node:path';
import type { FileView } from '../../view/files/file-view.ts';
import { progressWords } from '../../view/files/progress-words.ts';
import type { SettlingView } from '../../view/files/files-view.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { hasColour } from '../../log/colour.ts';
import type { Style } from '../../log/colour.ts';
import { dayAndTime } from '../../view/words/text.ts';
import { formatBytes, formatRelative, UNKNOWN } from './format.ts';
import { renderTable } from './table.ts';
import type { Column } from './table.ts';
import type { Shell } from '../shell.ts';

/** Formats files as a table, one per row. */
export function fileTable(files: readonly FileView[], shell: Shell, settling: readonly SettlingView[] = []): string {
  // The HOST column appears only in a fleet.
  const hasHosts = files.some(({ host }) => host !== null);
  const hostCell = (host: string | null): readonly string[] => (hasHosts ? [host ?? UNKNOWN] : []);
  const columns = [
    { title: 'STATE', style: stageStyle },
    { title: 'ID' },
    ...(hasHosts ? [{ title: 'HOST' }] : []),
    { title: 'FILE', cut: 'middle' as const },
    { title: 'ARRIVED' },
    { title: 'SIZE', align: 'right' as const },
    { title: 'CHANNEL' },
    { title: 'TAGS', cut: 'end' as const },
    { title: 'VIDEO' },
    { title: 'WHY', cut: 'end' as const },
  ];
  const rows = [
    ...settling.map(({ path, size, why }) => [
      'settling',
      UNKNOWN,
      ...hostCell(null),
      shortPath(path, shell),
      UNKNOWN,
      formatBytes(size),
      UNKNOWN,
      '',
      UNKNOWN,
      why,
    ]),
    ...files.map((file) => [
      file.stage,
      file.id,
      ...hostCell(file.host),
      shortPath(file.path, shell),
      dayAndTime(file.times.discovered),
      formatBytes(file.size),
      file.channel ?? UNKNOWN,
      file.tags.join(', '),
      file.video_id ?? UNKNOWN,
      whyOf(file),
    ]),
  ];
  return renderFitting(columns, rows, shell);
}

/**
 * Fits a table to the terminal. A narrow terminal omits tags and video in favour of name and reason; `show` and --json
 * have both.
 */
export function renderFitting(columns: readonly Column[], rows: readonly (readonly string[])[], shell: Shell): string {
  const options = tableOptions(shell);
  const isNarrow = options.width < wideEnough;
  const shown = columns.flatMap(({ title }, index) => (isNarrow && optional.has(title) ? [] : [index]));
  const pick = <T>(list: readonly T[]): readonly T[] => shown.flatMap((index) => list.slice(index, index + 1));
  return renderTable(pick(columns), rows.map(pick), options);
}

/** Terminal columns needed to show every table column. */
const wideEnough = 140;
const optional = new Set(['TAGS', 'VIDEO']);

/** Table options for this output: as wide as the terminal, or unlimited in a file or pipe. */
export function tableOptions(shell: Pick<Shell, 'stdout' | 'env'>): { width: number; colour: boolean } {
  return { width: shell.stdout.columns || Infinity, colour: hasColour(shell.stdout, shell.env) };
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
