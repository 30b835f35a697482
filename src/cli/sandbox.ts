import { addRecordCommands } from '@dropcast/recorder/commands';
import { addKeyCommands, addSandboxCommand } from '@dropcast/sandbox/commands';
import type { Command } from 'commander';
import { escapeControls } from '../log/unsafe-characters.ts';
import { printJson } from './output/json.ts';
import type { Registry } from './registry.ts';
import { CommandError } from './shell.ts';

/**
 * Adds `dropcast sandbox` and its subcommands. They come from other packages but print and fail like all other
 * commands.
 */
export function addSandboxCommands(program: Command, { shell, installed, exit }: Registry): void {
  const failure = (message: string, exitCode: number, options?: ErrorOptions): Error =>
    new CommandError(message, exitCode, options);
  const terminal = { shell, printJson, escapeControls, failure };
  const sandbox = program.command('sandbox');
  addSandboxCommand(sandbox, terminal, installed.samples);
  addRecordCommands(sandbox, terminal, exit);
  addKeyCommands(sandbox, terminal, async () => {
    const [{ formatMoment }, { renderTable, tableOptions }] = await Promise.all([
      import('./output/format.ts'),
      import('./output/table.ts'),
    ]);
    return {
      table: (columns, rows) => renderTable(columns, rows, tableOptions(shell)),
      moment: (iso) => formatMoment(iso ?? undefined, Date.now(), shell.stdout.isTTY),
    };
  });
}
