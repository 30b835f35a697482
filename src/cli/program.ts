import { Command, CommanderError } from 'commander';
import { addActCommands } from './act/commands.ts';
import { addApiCommands } from './api/commands.ts';
import { addConfigCommands } from './configure/commands.ts';
import { addExamples } from './examples.ts';
import { addHostCommands } from '../fleet/commands/host-commands.ts';
import { addDemoCommand } from './run/demo-command.ts';
import { addLedgerCommands } from '../fleet/commands/ledger-commands.ts';
import { addLookCommands } from './look/commands.ts';
import { addNotifyCommands } from './notify/commands.ts';
import { oneScreen } from './one-screen.ts';
import { addRareCommands } from './act/rare-commands.ts';
import { createRegistry } from './registry.ts';
import { addRunCommands } from './run/commands.ts';
import { addSandboxCommands } from './sandbox.ts';
import { addSetupCommands } from './setup/commands.ts';
import { exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';
import { addSystemdCommands } from './systemd/commands.ts';

/**
 * All commands, in groups, what is used most first. Each is loaded when it runs, so that none slows down the start of another. Parsing
 * throws CommanderError for wrong usage, and CommandError for what a command reports.
 *
 * @param installed version of the package, and the folder of its sample media
 * @param exit called with the exit code of the command
 */
export function createProgram(
  shell: Shell,
  installed: { readonly version: string; readonly samples: string },
  exit: (code: number) => void,
): Command {
  const program = new Command('dropcast')
    .description('Uploads the videos that you drop into folders, and publishes their feeds.')
    .version(installed.version)
    .enablePositionalOptions() // an option belongs to the command before it
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.stdout.write(text),
      writeErr: (text) => shell.stderr.write(text),
    })
    .showHelpAfterError('Run it with --help for its arguments and options.');
  oneScreen(program, ['Less often:', 'The API of the service:']);
  const registry = createRegistry(program, shell, exit);
  program.commandsGroup('Look:');
  addLookCommands(registry);
  program.commandsGroup('Act:');
  addActCommands(registry);
  program.commandsGroup('Set up and configure:');
  addSetupCommands(program, shell, installed, exit);
  addConfigCommands(registry);
  program.commandsGroup('Run, or try it out:');
  addRunCommands(registry);
  addDemoCommand(program, registry, installed.samples);
  addSandboxCommands(program, shell, { samples: installed.samples, exit });
  program.commandsGroup('Less often:');
  addRareCommands(registry);
  addHostCommands(registry);
  addNotifyCommands(program, shell, exit);
  addLedgerCommands(program, shell);
  addSystemdCommands(program, shell);
  program.commandsGroup('The API of the service:');
  addApiCommands(program, shell, exit);
  addExamples(program);
  return program;
}

/** The exit code of an error thrown by parsing: 0 for `--help` and `--version`, else wrong usage; null for any other error. */
export function usageExitCode(error: unknown): number | null {
  if (!(error instanceof CommanderError)) return null;
  return error.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
}
