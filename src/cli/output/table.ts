import { hasColour, paint } from '../../log/colour.ts';
import type { Style } from '../../log/colour.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import type { Shell } from '../shell.ts';
import { cutEnd, cutMiddle, displayWidth, pad } from './text-width.ts';

export interface Column {
  readonly title: string;
  /** Alignment; `right` for numbers. */
  readonly align?: 'left' | 'right';
  /**
   * Where to cut text if the column has to shrink; only columns with this setting shrink first. Paths are cut in the
   * middle.
   */
  readonly cut?: 'end' | 'middle';
  /** Style for a cell, by its content; null for none. */
  readonly style?: (cell: string) => Style | null;
  /** Whether a narrow terminal omits the column in favour of the others. */
  readonly isOptional?: boolean;
}

/** A column, and the text that it shows for an item. */
export type ColumnOf<T> = readonly [title: string, cell: (item: T) => string, look?: Omit<Column, 'title'>];

type Screen = Pick<Shell, 'stdout' | 'env'>;

/** Renders items as a table that fits the terminal, one per row. */
export function tableOf<T>(items: readonly T[], columns: readonly ColumnOf<T>[], shell: Screen): string {
  const shown =
    (shell.stdout.columns || Infinity) < wideEnough
      ? columns.filter(([, , look]) => look?.isOptional !== true)
      : columns;
  return renderTable(
    shown.map(([title, , look]) => ({ title, ...look })),
    items.map((item) => shown.map(([, cell]) => cell(item))),
    tableOptions(shell),
  );
}

/** Terminal columns needed to show optional columns. */
const wideEnough = 140;

/** Table options for this output: as wide as the terminal, or unlimited in a file or pipe. */
export function tableOptions({ stdout, env }: Screen): { width: number; colour: boolean } {
  return { width: stdout.columns || Infinity, colour: hasColour(stdout, env) };
}

/** A labelled fact. The value is raw text; several lines are printed below each other, and null omits the fact. */
export type Detail = readonly [label: string, value: string | readonly string[] | null, style?: Style | null];

/** Renders facts as `label  value`, one per line with aligned values. Ends with a newline unless empty. */
export function renderDetails(details: readonly Detail[], shell: Screen): string {
  const colour = hasColour(shell.stdout, shell.env);
  const known = details.filter(([, value]) => value !== null);
  const width = Math.max(0, ...known.map(([label]) => displayWidth(label))) + GAP.length;
  const lines = known.map(([label, value, style = null]) => {
    const shown = [value ?? ''].flat().map((line) => paintIf(style, escapeControls(line), colour));
    return (pad(label, width) + shown.join(`\n${' '.repeat(width)}`)).trimEnd();
  });
  return lines.map((line) => `${line}\n`).join('');
}

const GAP = '  ';
/** Minimum width of a shrinking column while other columns can still shrink. */
const MIN_FLEXIBLE = 8;

/**
 * Renders rows under their titles, aligned by display width. Ends with a newline.
 *
 * @param rows raw text, escaped here; missing cells are empty
 * @param options.width terminal width, which no line exceeds if there is at least one terminal column per table column;
 *   `Infinity` for a file or pipe
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: { readonly width: number; readonly colour: boolean },
): string {
  const titles = columns.map(({ title }) => title);
  const cells = rows.map((row) => columns.map((_, index) => escapeControls(row[index] ?? '')));
  const widths = fit(columns, natural([titles, ...cells]), options.width);
  const line = (row: readonly string[], style: (column: Column, cell: string) => Style | null) =>
    row.map((cell, index) => renderCell(columns[index], cell, widths[index] ?? 0, { style, colour: options.colour }));
  const lines = [
    line(titles, () => 'bold'),
    ...cells.map((row) => line(row, (column, cell) => column.style?.(cell) ?? null)),
  ];
  return lines.map((parts) => `${parts.join(GAP).trimEnd()}\n`).join('');
}

interface CellPaint {
  readonly style: (column: Column, cell: string) => Style | null;
  readonly colour: boolean;
}

/** Renders a cell. Padding stays outside the colour codes so that line ends can be trimmed. */
function renderCell(column: Column | undefined, cell: string, width: number, { style, colour }: CellPaint): string {
  if (!column) return '';
  const text = column.cut === 'middle' ? cutMiddle(cell, width) : cutEnd(cell, width);
  const space = pad('', width - displayWidth(text));
  const look = style(column, cell);
  const painted = paintIf(look, text, colour);
  return column.align === 'right' ? space + painted : painted + space;
}

function paintIf(style: Style | null, text: string, colour: boolean): string {
  return style === null || text === '' ? text : paint(style, text, colour);
}

function natural(rows: readonly (readonly string[])[]): readonly number[] {
  return (rows[0] ?? []).map((_, index) =>
    rows.reduce((widest, row) => Math.max(widest, displayWidth(row[index] ?? '')), 0),
  );
}

/** Fits the columns to the terminal. Shrinks flexible columns first, starting with the widest, then all columns. */
function fit(columns: readonly Column[], widths: readonly number[], total: number): readonly number[] {
  const flexible = columns.map((column) => (column.cut ? MIN_FLEXIBLE : Infinity));
  const excess = (now: readonly number[]) => sum(now) + GAP.length * (now.length - 1) - total;
  const once = shrink(widths, flexible, excess(widths));
  return shrink(
    once,
    columns.map(() => 1),
    excess(once),
  );
}

/** Narrows the widest column by one until `excess` is gone or every column has its minimum width. */
function shrink(widths: readonly number[], least: readonly number[], excess: number): readonly number[] {
  const result = [...widths];
  for (let left = excess; left > 0 && Number.isFinite(left); left -= 1) {
    const widest = widestAbove(result, least);
    if (widest === -1) break;
    result[widest] = (result[widest] ?? 0) - 1;
  }
  return result;
}

function widestAbove(widths: readonly number[], least: readonly number[]): number {
  return widths.reduce((best, width, index) => {
    if (width <= (least[index] ?? Infinity)) return best;
    return best === -1 || width > (widths[best] ?? 0) ? index : best;
  }, -1);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
