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

/**
 * Renders items as a table that fits the terminal, one per row.
 *
 * @param screen.leastWidth in columns; a narrower terminal wraps the table
 */
export function tableOf<T>(
  items: readonly T[],
  columns: readonly ColumnOf<T>[],
  screen: Screen & { readonly leastWidth?: number },
): string {
  const { width, colour } = tableOptions(screen);
  const shown = width < wideEnough ? columns.filter(([, , look]) => look?.isOptional !== true) : columns;
  return renderTable(
    shown.map(([title, , look]) => ({ title, ...look })),
    items.map((item) => shown.map(([, cell]) => cell(item))),
    { width: Math.max(width, screen.leastWidth ?? 0), colour },
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
  const line = (row: readonly string[], styleOf: (column: Column, cell: string) => Style | null): string => {
    const shown = columns.map((column, index) => {
      const [cell = '', width = 0] = [row[index], widths[index]];
      const text = column.cut === 'middle' ? cutMiddle(cell, width) : cutEnd(cell, width);
      const painted = paintIf(styleOf(column, cell), text, options.colour);
      // Padding stays outside the colour codes so that line ends can be trimmed.
      const space = pad('', width - displayWidth(text));
      return column.align === 'right' ? space + painted : painted + space;
    });
    return `${shown.join(GAP).trimEnd()}\n`;
  };
  const styleOf = (column: Column, cell: string): Style | null => column.style?.(cell) ?? null;
  return line(titles, () => 'bold') + cells.map((row) => line(row, styleOf)).join('');
}

function paintIf(style: Style | null, text: string, colour: boolean): string {
  return style === null || text === '' ? text : paint(style, text, colour);
}

function natural(rows: readonly (readonly string[])[]): readonly number[] {
  return (rows[0] ?? []).map((_, index) =>
    rows.reduce((widest, row) => Math.max(widest, displayWidth(row[index] ?? '')), 0),
  );
}

/** Fits the columns to the terminal. Narrows the widest flexible column by one, again and again, then any column. */
function fit(columns: readonly Column[], widest: readonly number[], total: number): readonly number[] {
  const widths = [...widest];
  const isTooWide = (): boolean => widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1)) > total;
  for (const least of [columns.map(({ cut }) => (cut ? MIN_FLEXIBLE : Infinity)), columns.map(() => 1)])
    while (isTooWide()) {
      const shrinkable = widths.map((width, index) => (width > (least[index] ?? Infinity) ? width : 0));
      const most = Math.max(...shrinkable);
      if (most === 0) break;
      widths[shrinkable.indexOf(most)] = most - 1;
    }
  return widths;
}
