import { Command, CommanderError, Help } from 'commander';
import { fleetCommands } from '../fleet/commands/commands.ts';
import { actCommands, notifyCommands, rareCommands } from './act/commands.ts';
import { addApiCommands } from './api/commands.ts';
import { configCommands } from './configure/commands.ts';
import { lookCommands } from './look/commands.ts';
import { addProbeCommand } from './probe/commands.ts';
import { addCommands } from './registry.ts';
import type { Installed } from './registry.ts';
import { runCommands } from './run/commands.ts';
import { addSandboxCommands } from './sandbox.ts';
import { setupCommands } from './setup/commands.ts';
import type { Shell } from './shell.ts';
import { exitCodes } from './shell.ts';
import { systemdCommands } from './systemd/commands.ts';

/**
 * Creates the program with all commands in groups, the most used first. Each command is loaded only when it runs, so
 * that none slows down another's startup. Parsing throws CommanderError for wrong usage, and CommandError for failures
 * that a command reports.
 *
 * @param installed package version, and the folder of its sample media
 * @param exit called with the command's exit code
 */
export function createProgram(shell: Shell, installed: Installed, exit: (code: number) => void): Command {
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
  const registry = { shell, installed, exit };
  program.commandsGroup('Look:');
  addCommands(program, registry, lookCommands);
  program.commandsGroup('Act:');
  addCommands(program, registry, actCommands);
  program.commandsGroup('Set up and configure:');
  addCommands(program, registry, [...setupCommands, ...configCommands]);
  addProbeCommand(program, registry);
  program.commandsGroup('Run, or try it out:');
  addCommands(program, registry, runCommands);
  addSandboxCommands(program, registry);
  program.commandsGroup('Less often:');
  addCommands(program, registry, [...rareCommands, ...fleetCommands, notifyCommands, systemdCommands]);
  program.commandsGroup('The API of the service:');
  addApiCommands(program, shell);
  return program;
}

/**
 * Exit code for an error thrown by parsing: 0 for `--help` and `--version`, wrong usage for other commander errors,
 * null for anything else.
 */
export function usageExitCode(error: unknown): number | null {
  if (!(error instanceof CommanderError)) return null;
  return error.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
}

/**
 * Makes `dropcast --help` fit on one screen: one line per command, one line for each group in `inOneLine`, and no
 * options (there are only two).
 */
function oneScreen(program: Command, inOneLine: readonly string[]): void {
  const plain = new Help();
  program
    .configureHelp({
      subcommandTerm: termOf,
      visibleOptions: (command) => (command === program ? [] : plain.visibleOptions(command)),
      visibleCommands: (command) => command.commands.filter((each) => !inOneLine.includes(each.helpGroup())),
    })
    .addHelpText('after', () => `\n${inOneLine.map((group) => lineOf(program, group)).join('\n')}\n${AFTER}`);
}

/** A command's usage without `[options]`, which would appear on every line. */
function termOf(command: Command): string {
  return `${command.name()} ${command.usage()}`.replaceAll(/ \[(?:options|command)\]/g, '');
}

function lineOf(program: Command, group: string): string {
  const names = program.commands.filter((each) => each.helpGroup() === group).map((each) => each.name());
  return new Help().boxWrap(`${group} ${names.join(', ')}`, 80);
}

const AFTER = `
More: dropcast COMMAND --help, dropcast --version, man dropcast
Configuration: --config PATH, else $DROPCAST_CONFIG, else ./dropcast.yaml,
else /etc/dropcast/dropcast.yaml.
Exit codes: 0 fine, 1 something failed or needs you, 2 wrong usage,
3 the daemon is not running, 78 the configuration is wrong.`;
