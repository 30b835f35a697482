import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { addApiCommands } from './api/commands.ts';
import { wholeNumber } from './argument-types.ts';
import { LONGEST, parseDuration } from '../config/units.ts';
import { addSandboxCommands } from './sandbox-commands.ts';
import { exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';
import { addSystemdCommands } from './systemd-commands.ts';

interface Shared {
  readonly config?: string;
  readonly json?: boolean;
}

/**
 * All commands; each is loaded when it runs, so that none pays for the others at its start. Parsing throws CommanderError for wrong usage and CommandError for what a command reports.
 *
 * @param package_ version, and where the sample media are
 * @param exit takes the exit code of the command that ran
 */
export function createProgram(
  shell: Shell,
  package_: { readonly version: string; readonly samples: string },
  exit: (code: number) => void,
): Command {
  const program = new Command('dropcast')
    .description('Drop a video into a folder: dropcast uploads it, waits until it is ready, and publishes the feed.')
    .version(package_.version)
    .enablePositionalOptions() // an option belongs to the command that it stands behind
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.stdout.write(text),
      writeErr: (text) => shell.stderr.write(text),
    })
    .showHelpAfterError('Run the command with --help to see what it takes.')
    .configureHelp({ subcommandTerm: termOf, visibleCommands: listed })
    .addHelpText('after', AFTER_HELP);
  const command = (usage: string, description: string): Command =>
    program.command(usage).description(description).option('-c, --config <path>', 'configuration file');
  const json = (made: Command): Command => made.option('--json', 'print JSON, {"v":1,…}');

  program.commandsGroup('From folders to the service:');
  command('run', 'run the daemon in the foreground').action(async (options: Shared) =>
    (await import('./run.ts')).run(shell, options),
  );
  json(command('once', 'process what is in the folders now, show progress, and end'))
    .summary('process what is in the folders now, and end')
    .addOption(
      new Option('--wait <time>', 'wait so long for a service that cannot be reached, like 30s or 1h')
        .argParser(duration)
        .default(120_000, '2m'),
    )
    .action(async (options: Shared & { wait: number }) => exit(await (await import('./once.ts')).once(shell, options)));
  json(command('check', 'name every problem of the configuration, folders, state and key'))
    .summary('name every problem of configuration, folders, state, key')
    .option('--online', 'also ask the service whether key, channels and feeds exist')
    .action(async (options: Shared & { online?: boolean }) =>
      exit(await (await import('./check.ts')).check(shell, options)),
    );
  json(command('explain <path>', 'say which rule takes a path, what would be sent, and where the file stands'))
    .summary('say which rule takes a path, and where the file stands')
    .action(async (path: string, options: Shared) => (await import('./explain.ts')).explain(shell, path, options));
  program.commandsGroup('The daemon and its files:');
  json(command('status', 'say what is happening, and why')).action(async (options: Shared) =>
    exit(await (await import('./status.ts')).status(shell, options)),
  );
  command('reload', 'have the daemon read its configuration again, and say what became of it')
    .summary('have the daemon read its configuration again')
    .action(async (options: Shared) => (await import('./reload.ts')).reload(shell, options));
  json(command('ls', 'list the files, newest first'))
    .option('-s, --state <states>', 'only files in these states, separated by commas', stateList)
    .option('-n, --limit <number>', 'list so many at most', wholeNumber(1, 1_000_000), 100)
    .action(async (options: Shared & { state?: string[]; limit: number }) =>
      (await import('./ls.ts')).ls(shell, options),
    );
  json(command('show <name>', 'show everything about one file, by its id, video id, path or file name'))
    .summary('show everything about one file')
    .action(async (name: string, options: Shared) => (await import('./show.ts')).show(shell, name, options));
  json(
    command('retry [names...]', 'try failed, held, skipped or waiting files again, by id, video id, path or file name'),
  )
    .summary('try failed, held, skipped or waiting files again')
    .option('-s, --state <states>', 'all files in these states, separated by commas', stateList)
    .option('--all', 'all that failed, are held or wait')
    .action(async (names: string[], options: Shared & { all?: boolean; state?: string[] }) =>
      exit(await (await import('./retry.ts')).retry(shell, names, options)),
    );
  json(command('add <paths...>', 'take files of a watched folder at once, whatever settle time and filters say'))
    .summary('take files of a watched folder at once')
    .action(async (paths: string[], options: Shared) =>
      exit(await (await import('./add.ts')).add(shell, paths, options)),
    );
  addSystemdCommands(program, shell);
  program.commandsGroup('The API of the service:');
  addApiCommands(program, shell, exit);
  program.commandsGroup('To try things out:');
  program
    .command('demo')
    .description('show the whole way with a local service and sample files; needs no account and no configuration')
    .summary('show the whole way with sample files; needs no account')
    .option('--keep', 'stay up afterwards')
    .action(async (options: { keep?: boolean }) => {
      const { demo } = await import('./demo.ts');
      exit(await demo(shell, { ...options, samples: package_.samples }));
    });
  addSandboxCommands(program, shell, package_.samples);
  return program;
}

const AFTER_HELP = `
The configuration is --config PATH, else $DROPCAST_CONFIG, else
./dropcast.yaml, else /etc/dropcast/dropcast.yaml.
Exit codes: 0 fine, 1 something failed or needs a person, 2 wrong usage,
3 the daemon is not running, 78 the configuration is wrong.`;

/** Without the `[options]` that every command has. */
function termOf(command: Command): string {
  return `${command.name()} ${command.usage()}`.replaceAll(/ \[(?:options|command)\]/g, '');
}

/** All but `help`, which -h is too: the list has to fit on a screen. */
function listed(command: Command): Command[] {
  return command.commands.slice();
}

function stateList(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}

function duration(text: string): number {
  const measured = parseDuration(text, { min: '0s', max: LONGEST });
  if (!measured.ok) throw new InvalidArgumentError(measured.message);
  return measured.value;
}

/** The exit code of what parsing threw: fine for `--help` and `--version`, wrong usage else; null when it was something else. */
export function usageExitCode(error: unknown): number | null {
  if (!(error instanceof CommanderError)) return null;
  return error.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
}
