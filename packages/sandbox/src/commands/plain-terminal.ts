import { escapeControls, escapeJson } from '@dropcast/pages/unsafe-characters';
import type { Column, Terminal } from './terminal.ts';

/** Thrown to end a command of `dropcast-sandbox` with a sentence on stderr and an exit code. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: number;

  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Prints output and errors for `dropcast-sandbox`, in plain text because it has no terminal libraries. */
export const plainTerminal: Omit<Terminal, 'shell'> = {
  printJson: (document, stream) => stream.write(`${escapeJson(JSON.stringify({ v: 1, ...document }))}\n`),
  escapeControls,
  failure: (message, exitCode, options) => new CommandFailure(message, exitCode, options),
};

/** Formats rows below their titles, with each column as wide as its widest cell. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const lines = [columns.map(({ title }) => title), ...rows.map((row) => row.map(escapeControls))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  const padded = (cell: string, index: number): string =>
    columns[index]?.align === 'right' ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0);
  return lines.map((line) => `${line.map(padded).join('  ').trimEnd()}\n`).join('');
}

/** Returns a time as the service sends it, or `-` for none. */
export function moment(iso: string | null): string {
  return iso ?? '-';
}
