import { Command, CommanderError, Help } from 'commander';
import { addHostCommands, addLedgerCommands } from '../fleet/commands/commands.ts';
import { actCommands, notifyCommands, rareCommands } from './act/commands.ts';
import { addApiCommands } from './api/commands.ts';
import { addConfigCommands } from './configure/commands.ts';
import { lookCommands } from './look/commands.ts';
import { addProbeCommand } from './probe/commands.ts';
import { addCommands, createRegistry } from './registry.ts';
import { addDemoCommand, addRunCommands } from './run/commands.ts';
import { addSandboxCommands } from './sandbox.ts';
import { addSetupCommands } from './setup/commands.ts';
import type { Shell } from './shell.ts';
import { exitCodes } from './shell.ts';
import { addSystemdCommands } from './systemd/commands.ts';

/**
 * Creates the program with all commands in groups, the most used first. Each command is loaded only when it runs, so
 * that none slows down another's startup. Parsing throws CommanderError for wrong usage, and CommandError for failures
 * that a command reports.
 *
 * @param installed package version, and the folder of its sample media
 * @param exit called with the command's exit code
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
  addCommands(registry, lookCommands);
  program.commandsGroup('Act:');
  addCommands(registry, actCommands);
  program.commandsGroup('Set up and configure:');
  addSetupCommands(program, shell, installed, exit);
  addConfigCommands(registry);
  addProbeCommand(program, shell, { samples: installed.samples, exit });
  program.commandsGroup('Run, or try it out:');
  addRunCommands(registry);
  addDemoCommand(program, registry, installed.samples);
  addSandboxCommands(program, shell, { samples: installed.samples, exit });
  program.commandsGroup('Less often:');
  addCommands(registry, rareCommands);
  addHostCommands(registry);
  const notify = program.command('notify').description('test the notification targets');
  addCommands(createRegistry(notify, shell, exit), notifyCommands);
  addLedgerCommands(program, shell);
  addSystemdCommands(program, shell);
  program.commandsGroup('The API of the service:');
  addApiCommands(program, shell);
  addExamples(program);
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

/** Examples for --help and the manual, for commands whose options are not self-explanatory. */
const examples: Readonly<Record<string, readonly string[]>> = {
  ls: ['ls --state failed,held', 'ls --since today --query evening --json'],
  events: ['events -f --level warn', 'events --since 7d --level warn'],
  failures: ['failures --since 7d'],
  retry: ['retry --all', 'retry --cause unknown_channel --to ch_news'],
  first: ['first evening.mp4', 'first --undo evening.mp4'],
  ignore: ['ignore --state held --query .mkv --plan', 'ignore --undo evening.mp4'],
  pause: ['pause --all --until 18:00', 'pause /srv/video/inbox'],
  setup: ['setup --service https://video.example.com/v1 --key-file api_key --plan'],
  doctor: ['doctor --canary', 'doctor --bundle report.tar.gz'],
  explain: ['explain /srv/video/inbox/evening.mp4'],
  reapply: ['reapply --since 7d', 'reapply --folder /srv/video/inbox --yes'],
  adopt: ['adopt', 'adopt --confirm'],
  audit: ['audit --plan', 'audit --yes', 'audit --paths'],
  undo: ["undo --rule 'folders[0].rules[1]' --since today", 'undo', 'undo --stop'],
  hosts: ['hosts', 'hosts drain ingest2 --wait', 'hosts drain ingest2 --undo'],
};

/** Appends the examples to each command's help. */
function addExamples(program: Command): void {
  for (const command of program.commands) {
    const lines = examples[command.name()] ?? [];
    if (lines.length === 0) continue;
    const title = lines.length === 1 ? 'Example' : 'Examples';
    command.addHelpText('after', `\n${title}:\n${lines.map((line) => `  $ dropcast ${line}`).join('\n')}`);
  }
}
