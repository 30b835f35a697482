import { Option } from 'commander';
import type { Command } from 'commander';
import type { Shell } from './shell.ts';

/** Options of every command that uses a configuration. */
export interface Shared {
  readonly config?: string;
  readonly json?: boolean;
}

/** Facts about the installed package. */
export interface Installed {
  readonly version: string;
  /** Folder of its sample media. */
  readonly samples: string;
}

/** A command, or a group of commands. */
export interface CommandRow {
  /** Name and arguments. */
  readonly usage: string;
  readonly does: string;
  /** Shorter text for the list of commands. */
  readonly summary?: string;
  /** Options that many commands share; by default, those of `Shared`. */
  readonly shared?: readonly Option[];
  /** Whether the command takes the options that select files. */
  readonly isSelecting?: boolean;
  readonly options?: readonly Option[];
  /** Commands to show below the help, without `dropcast`. */
  readonly examples?: readonly string[];
  /** Text after the help. */
  readonly note?: string;
  /** Loads the command's code when it runs, so that no command slows down another's start. */
  load?(installed: Installed): Promise<Handler['run']>;
  readonly commands?: readonly CommandRow[];
}

/** A method, so that each handler can name its own options and arguments. */
interface Handler {
  /** @returns the exit code; nothing for 0 */
  run(shell: Shell, options: object, ...args: readonly unknown[]): Promise<number | void>;
}

/** What commands are given. */
export interface Registry {
  readonly shell: Shell;
  readonly installed: Installed;
  /** Called with the command's exit code. */
  exit(code: number): void;
}

export const configOption = new Option('-c, --config <path>', 'configuration file');
const jsonOption = new Option('--json', 'print JSON, {"v":1,…}');

/** Adds the commands of a table to a program or a group. */
export function addCommands(parent: Command, registry: Registry, rows: readonly CommandRow[]): void {
  for (const row of rows) {
    const { usage, does, summary = '', examples = [], note, load, commands = [] } = row;
    const { shared = load === undefined ? [] : [configOption, jsonOption], isSelecting = false, options = [] } = row;
    const command = parent.command(usage).description(does).summary(summary);
    for (const option of shared) command.addOption(option);
    if (isSelecting) selecting(command);
    for (const option of options) command.addOption(option);
    const lines = examples.map((example) => `\n  $ dropcast ${example}`).join('');
    if (lines !== '') command.addHelpText('after', `\n${examples.length === 1 ? 'Example' : 'Examples'}:${lines}`);
    if (note !== undefined) command.addHelpText('after', note);
    if (load !== undefined)
      command.action(async () => {
        const run = await load(registry.installed);
        const args = command.processedArgs as readonly unknown[];
        const code = await run(registry.shell, command.opts(), ...args);
        if (typeof code === 'number') registry.exit(code);
      });
    addCommands(command, registry, commands);
  }
}

/** Adds the options that select files, under their own heading. They are the same for every command. */
function selecting(command: Command): void {
  command
    .optionsGroup('Which files:')
    .option(
      '-s, --state <states>',
      'only files with these stages or outcomes, separated by commas: `publishing`, `failed,held`, …',
    )
    .option('--folder <path>', 'only files of this watched folder')
    .option('--host <name>', 'only files that this host is working on, or that it sent; `hosts` lists them')
    .option('--channel <id>', 'only files for this channel')
    .option('--feed <id>', 'only files for this feed')
    .option('--cause <code>', 'only files that are stuck for this reason; `ls --counts` lists the codes')
    .option('--since <time>', 'only files that arrived or ended since then, like 24h, yesterday or 2026-11-22')
    .option('--until <time>', 'only files that arrived or ended before then: `--since yesterday --until today`')
    .option('-q, --query <text>', 'only files with this text in their path, title or video id')
    .optionsGroup('Options:');
}
