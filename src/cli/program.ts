import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { add } from './add.ts';
import { LONGEST, parseDuration } from '../config/units.ts';
import { check } from './check.ts';
import { demo } from './demo.ts';
import { explain } from './explain.ts';
import { ls } from './ls.ts';
import { once } from './once.ts';
import { retry } from './retry.ts';
import { run } from './run.ts';
import { sandbox } from './sandbox.ts';
import type { SandboxCommandOptions } from './sandbox.ts';
import { show } from './show.ts';
import { exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';
import { status } from './status.ts';

interface Shared {
  readonly config?: string;
  readonly json?: boolean;
}

/**
 * All commands. Parsing throws CommanderError for wrong usage and CommandError for what a command reports.
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
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.stdout.write(text),
      writeErr: (text) => shell.stderr.write(text),
    })
    .showHelpAfterError('Run the command with --help to see what it takes.')
    .addHelpText(
      'after',
      '\nThe configuration is --config PATH, else $DROPCAST_CONFIG, else ./dropcast.yaml, else /etc/dropcast/dropcast.yaml.\nExit codes: 0 fine, 1 something failed or needs a person, 2 wrong usage, 3 the daemon is not running, 78 the configuration is wrong.',
    );
  const command = (usage: string, description: string): Command =>
    program.command(usage).description(description).option('-c, --config <path>', 'configuration file');
  const json = (made: Command): Command => made.option('--json', 'print JSON, {"v":1,…}');

  command('run', 'run the daemon in the foreground').action((options: Shared) => run(shell, options));
  json(command('once', 'process what is in the folders now, show progress, and end'))
    .addOption(
      new Option('--wait <time>', 'wait so long for a service that cannot be reached, like 30s or 1h')
        .argParser(duration)
        .default(120_000, '2m'),
    )
    .action(async (options: Shared & { wait: number }) => exit(await once(shell, options)));
  program
    .command('demo')
    .description('show the whole way with a local service and sample files; needs no account and no configuration')
    .option('--keep', 'stay up afterwards')
    .action(async (options: { keep?: boolean }) => exit(await demo(shell, { ...options, samples: package_.samples })));
  json(command('check', 'name every problem of the configuration, folders, state and key'))
    .option('--online', 'also ask the service whether key, channels and feeds exist')
    .action(async (options: Shared & { online?: boolean }) => exit(await check(shell, options)));
  json(command('explain <path>', 'say which rule takes a path, what would be sent, and where the file stands')).action(
    (path: string, options: Shared) => explain(shell, path, options),
  );
  json(command('status', 'say what is happening, and why')).action((options: Shared) => status(shell, options));
  json(command('ls', 'list the files, newest first'))
    .option('-s, --state <states>', 'only files in these states, separated by commas', stateList)
    .option('-n, --limit <number>', 'list so many at most', wholeNumber(1, 1_000_000), 100)
    .action((options: Shared & { state?: string[]; limit: number }) => ls(shell, options));
  json(command('show <name>', 'show everything about one file, by its id, video id, path or file name')).action(
    (name: string, options: Shared) => show(shell, name, options),
  );
  json(
    command('retry [names...]', 'try failed, held, skipped or waiting files again, by id, video id, path or file name'),
  )
    .option('-s, --state <states>', 'all files in these states, separated by commas', stateList)
    .option('--all', 'all that failed, are held or wait')
    .action(async (names: string[], options: Shared & { all?: boolean; state?: string[] }) =>
      exit(await retry(shell, names, options)),
    );
  json(
    command('add <paths...>', 'take files of a watched folder at once, whatever settle time and filters say'),
  ).action(async (paths: string[], options: Shared) => exit(await add(shell, paths, options)));
  program
    .command('sandbox')
    .description('run the local video service, for trying things out')
    .addOption(new Option('--host <address>', 'loopback address to listen on').default('127.0.0.1'))
    .option('--port <number>', 'port to listen on, 0 for any free one', wholeNumber(0, 65_535), 8787)
    .option('--data <directory>', 'keep records and files there; without it everything is gone at the end')
    .option('--seed <number>', 'the same seed gives the same ids and key', wholeNumber(0, 2 ** 31), 1)
    .option('--requests-per-hour <number>', 'rate limit of a key', wholeNumber(1, 1_000_000_000), 1_000)
    .option('--json', 'print one line of JSON when ready')
    .action((options: SandboxCommandOptions) => sandbox(shell, options));
  return program;
}

function stateList(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}

function duration(text: string): number {
  const measured = parseDuration(text, { min: '0s', max: LONGEST });
  if (!measured.ok) throw new InvalidArgumentError(measured.message);
  return measured.value;
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (text.trim() === '' || !Number.isInteger(number) || number < least || number > most) {
      throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}.`);
    }
    return number;
  };
}

/** The exit code of what parsing threw: fine for `--help` and `--version`, wrong usage else; null when it was something else. */
export function usageExitCode(error: unknown): number | null {
  if (!(error instanceof CommanderError)) return null;
  return error.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
}
