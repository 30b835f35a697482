import type { Command, Option } from 'commander';
import type { Shell } from './shell.ts';

/** Options of every command that uses a configuration. */
export interface Shared {
  readonly config?: string;
  readonly json?: boolean;
}

/** What a module needs to add its commands to the program. */
export interface Registry {
  readonly shell: Shell;
  /** Called with the command's exit code. */
  readonly exit: (code: number) => void;
  /** Adds a command that takes a configuration file. */
  readonly command: (usage: string, description: string) => Command;
}

export function createRegistry(program: Command, shell: Shell, exit: (code: number) => void): Registry {
  return {
    shell,
    exit,
    command: (usage, description) =>
      program.command(usage).description(description).option('-c, --config <path>', 'configuration file'),
  };
}

/** A command that prints data. */
export interface CommandRow {
  /** Name and arguments. */
  readonly usage: string;
  readonly does: string;
  /** Shorter text for the list of commands. */
  readonly summary?: string;
  /** Whether the command takes the options that select files. */
  readonly isSelecting?: boolean;
  readonly options?: readonly Option[];
  /** Loads the command's code when it runs. */
  load(): Promise<Handler['run']>;
}

/** A method, so that each handler can name its own options and arguments. */
interface Handler {
  /** @returns the exit code; nothing for 0 */
  run(shell: Shell, options: Shared, ...args: readonly unknown[]): Promise<number | void>;
}

/** Adds the commands of a table. All take a configuration file and `--json`. */
export function addCommands({ shell, exit, command }: Registry, rows: readonly CommandRow[]): void {
  for (const { usage, does, summary = '', isSelecting = false, options = [], load } of rows) {
    const added = json(command(usage, does)).summary(summary);
    if (isSelecting) selecting(added);
    for (const option of options) added.addOption(option);
    added.action(async () => {
      const run = await load();
      const code = await run(shell, added.opts<Shared>(), ...(added.processedArgs as readonly unknown[]));
      if (typeof code === 'number') exit(code);
    });
  }
}

export function json(command: Command): Command {
  return command.option('--json', 'print JSON, {"v":1,…}');
}

/** Adds the options that select files, under their own heading. They are the same for every command. */
export function selecting(command: Command): Command {
  return command
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
