import type { Column, Shell } from '@dropcast/sandbox/commands/terminal';
import { tableOptions } from './file-table.ts';
import { formatMoment } from './format.ts';
import { renderTable } from './table.ts';

/** Formats rows under their titles, as wide as the terminal, for commands from other packages. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[], shell: Shell): string {
  return renderTable(columns, rows, tableOptions(shell));
}

/** Formats a time for display, for commands from other packages. */
export function moment(iso: string | null, { stdout }: Shell): string {
  return formatMoment(iso ?? undefined, Date.now(), stdout.isTTY);
}
