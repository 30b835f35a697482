import type { Column, Shell } from '@dropcast/sandbox/commands/terminal';
import { tableOptions } from './file-table.ts';
import { formatMoment } from './format.ts';
import { renderTable } from './table.ts';

/** Rows under their titles, as wide as the terminal, for the commands of packages. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[], shell: Shell): string {
  return renderTable(columns, rows, tableOptions(shell));
}

/** A time for a person, for the commands of packages. */
export function moment(iso: string | null, { stdout }: Shell): string {
  return formatMoment(iso ?? undefined, Date.now(), stdout.isTTY);
}
