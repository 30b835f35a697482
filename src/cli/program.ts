import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { addApiCommands } from './api/commands.ts';
import { wholeNumber } from './argument-types.ts';
import { LONGEST, parseDuration } from '../config/units.ts';
import { addNotifyCommands } from './notify-commands.ts';
import { addSandboxCommands } from './sandbox-commands.ts';
import { exitCodes } from './shell.ts';
import type { LsOptions } from './ls.ts';
import type { Shell } from './shell.ts';
import type { FailuresOptions } from './failures.ts';
import type { AdoptOptions } from './adopt.ts';
import type { EventsOptions } from './events.ts';
import type { IgnoreOptions } from './ignore.ts';
import type { PauseOptions } from './pause.ts';
import type { ReapplyOptions } from './reapply.ts';
import type { RetryOptions } from './retry.ts';
import type { SuspectsOptions } from './suspects.ts';
import { addSetupCommands } from './setup-commands.ts';
import { addSystemdCommands } from './systemd-commands.ts';

interface Shared {
  readonly config?: string;
  readonly json?: boolean;
}

/**
 * All commands. Each is loaded when it runs, so that none slows down the start of another. Parsing throws CommanderError for wrong usage,
 * and CommandError for what a command reports.
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
    .description('Drop a video into a folder: dropcast uploads it, waits until it is ready, and publishes the feed.')
    .version(installed.version)
    .enablePositionalOptions() // an option belongs to the command before it
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.stdout.write(text),
      writeErr: (text) => shell.stderr.write(text),
    })
    .showHelpAfterError('Run it with --help for its arguments and options.')
    .configureHelp({ subcommandTerm: termOf, visibleCommands: listed })
    .addHelpText('after', AFTER_HELP);
  const registry: Registry = {
    shell,
    exit,
    command: (usage, description) =>
      program.command(usage).description(description).option('-c, --config <path>', 'configuration file'),
  };
  program.commandsGroup('Set up:');
  addSetupCommands(program, shell, installed, exit);
  program.commandsGroup('Upload from folders:');
  addUploadCommands(registry);
  program.commandsGroup('Control the daemon:');
  addReadCommands(registry);
  addControlCommands(registry);
  addNotifyCommands(program, shell, exit);
  addSystemdCommands(program, shell);
  program.commandsGroup('Use the API of the service:');
  addApiCommands(program, shell, exit);
  program.commandsGroup('Try it out:');
  addDemoCommand(program, registry, installed.samples);
  addSandboxCommands(program, shell, installed.samples);
  return program;
}

interface Registry {
  readonly shell: Shell;
  readonly exit: (code: number) => void;
  /** Adds a command that takes a configuration file. */
  readonly command: (usage: string, description: string) => Command;
}

function addUploadCommands({ shell, exit, command }: Registry): void {
  command('run', 'run the daemon in the foreground').action(async (options: Shared) =>
    (await import('./run.ts')).run(shell, options),
  );
  json(command('once', 'process the files in the folders now, show progress, and exit'))
    .summary('process the files in the folders now, and exit')
    .addOption(
      new Option('--wait <time>', 'how long to wait for an unreachable service, like 30s or 1h')
        .argParser(duration)
        .default(120_000, '2m'),
    )
    .action(async (options: Shared & { wait: number }) => exit(await (await import('./once.ts')).once(shell, options)));
  json(command('check', 'report every problem of the configuration, folders, state and key'))
    .summary('report problems of configuration, folders, state, key')
    .option('--online', 'also check key, channels and feeds with the service')
    .action(async (options: Shared & { online?: boolean }) =>
      exit(await (await import('./check.ts')).check(shell, options)),
    );
  json(
    command(
      'plan [path]',
      'show what would happen to the files in the folders: how many, how large, duplicates, held files, requests, and when all is done; sends and writes nothing',
    ),
  )
    .summary('show what would be uploaded; sends nothing')
    .option('--no-hash', 'do not read files of the same size to find duplicates')
    .action(async (path: string | undefined, options: Shared & { hash: boolean }) =>
      exit(await (await import('./plan.ts')).plan(shell, path, options)),
    );
  json(command('explain <path>', 'show which rule matches a path, what would be sent, and the state of the file'))
    .summary('show which rule matches a file, and its state')
    .action(async (path: string, options: Shared) => (await import('./explain.ts')).explain(shell, path, options));
}

function addReadCommands({ shell, exit, command }: Registry): void {
  json(command('status', 'show what is happening, and why'))
    .option('--all', 'list every file that needs you, also those with the same cause')
    .action(async (options: Shared & { all?: boolean }) =>
      exit(await (await import('./status.ts')).status(shell, options)),
    );
  json(command('top', 'show live what is on its way, what limits it, and what needs you; q quits'))
    .summary('show live what is happening')
    .option('--once', 'print it once, as text')
    .addOption(
      new Option('--interval <time>', 'with --json: how often to print it, like 5s')
        .argParser(duration)
        .default(2_000, '2s'),
    )
    .action(async (options: Shared & { once?: boolean; interval: number }) =>
      (await import('./top.ts')).top(shell, options),
    );
  json(command('suspects', 'list the records that dropcast may have left empty on the service'))
    .summary('list records that may be empty on the service')
    .option('--dismiss <names...>', 'forget these, or `all`; deletes nothing on the service')
    .action(async (options: SuspectsOptions) => exit(await (await import('./suspects.ts')).suspects(shell, options)));
  json(command('ls', 'list the files, newest first'))
    .option('-s, --state <states>', 'only files in these states, separated by commas')
    .option('--folder <path>', 'only files of this watched folder')
    .option('--channel <id>', 'only files for this channel')
    .option('--feed <id>', 'only files for this feed')
    .option('--cause <code>', 'only files that stand still for this reason; --counts lists the codes')
    .option('--since <time>', 'only files that came or ended since then, like 24h, today or 2026-11-22')
    .option('-q, --query <text>', 'only files with this text in their path, title or video id')
    .option('-n, --limit <number>', 'list at most this many', wholeNumber(1, 1_000_000), 100)
    .option('--after <cursor>', 'the page after this one, as `ls` named it')
    .option('--counts', 'count the files by state, folder, channel, feed and cause instead')
    .action(async (options: Shared & LsOptions) => (await import('./ls.ts')).ls(shell, options));
  json(
    command(
      'adopt',
      'list the files that lay in a folder before dropcast watched it, and which of them are on the service',
    ),
  )
    .summary('compare an archive with the videos of the service')
    .option('--confirm', 'adopt those that are on the service without an upload, and upload the others')
    .action(async (options: AdoptOptions) => exit(await (await import('./adopt.ts')).adopt(shell, options)));
  json(command('show <name>', 'show everything about one file, named by its id, video id, path or file name'))
    .summary('show everything about one file')
    .action(async (name: string, options: Shared) => (await import('./show.ts')).show(shell, name, options));
  json(
    command('failures', 'print what failed, why, and what happens next, from failures.jsonl; works without a daemon'),
  )
    .summary('print what failed, why, and what happens next')
    .option('-f, --follow', 'go on with the failures to come; ends at Ctrl-C')
    .addOption(
      new Option('--since <time>', 'how far back, like 24h or 7d').argParser(duration).default(86_400_000, '24h'),
    )
    .action(async (options: FailuresOptions) => (await import('./failures.ts')).failures(shell, options));
  json(command('events', 'print the last news of the daemon: arrivals, uploads, failures and what happens next'))
    .summary('print what happened last, or follow it')
    .option('-f, --follow', 'go on with the news to come; ends at Ctrl-C')
    .addOption(
      new Option('--level <level>', 'only news of this level and worse')
        .choices(['info', 'warn', 'error'])
        .default('info'),
    )
    .option('--folder <path>', 'only news of this folder, or of this path in it')
    .option('-n, --lines <number>', 'how many to begin with', wholeNumber(1, 1_000), 50)
    .action(async (options: EventsOptions) => (await import('./events.ts')).events(shell, options));
  json(command('open', 'open the status page of the daemon in a browser, or print a link that works once'))
    .summary('open the status page in a browser')
    .option('--print', 'only print the link')
    .action(async (options: Shared & { print?: boolean }) => (await import('./open.ts')).open(shell, options));
}

function addControlCommands({ shell, exit, command }: Registry): void {
  json(command('reload', 'make the daemon read its configuration again, and report the result'))
    .summary('make the daemon read its configuration again')
    .option(
      '--plan',
      'only show what would change: folders, waiting files, and what new rules would cost for finished ones',
    )
    .action(async (options: Shared & { plan?: boolean }) =>
      exit(await (await import('./reload.ts')).reload(shell, options)),
    );
  json(
    command(
      'retry [names...]',
      'retry failed, held, skipped or waiting files, named by id, video id, path or file name',
    ),
  )
    .summary('retry failed, held, skipped or waiting files')
    .option('--all', 'all failed, held and waiting files whose cause may be cured')
    .option('-s, --state <states>', 'all files in these states, separated by commas')
    .option('--folder <path>', 'only files of this watched folder')
    .option('--feed <id>', 'only files for this feed')
    .option('--cause <code>', 'only files that stand still for this reason; `ls --counts` lists the codes')
    .option('--since <time>', 'only files that came or ended since then, like 24h, today or 2026-11-22')
    .option('-q, --query <text>', 'only files with this text in their path, title or video id')
    .option('--force', 'also files that a retry cannot cure, like damaged ones')
    .option(
      '--channel <id>',
      'send them to this channel, whatever their rules say; not files that have a video already',
    )
    .option('--plan', 'say how many files it concerns and what it costs, and do nothing')
    .action(async (names: string[], options: RetryOptions) =>
      exit(await (await import('./retry.ts')).retry(shell, names, options)),
    );
  selecting(
    json(
      command(
        'ignore [names...]',
        'ignore files that wait, failed or are held: they are not uploaded, until they change or somebody retries them',
      ),
    ),
  )
    .summary('leave files alone that nobody wants to be uploaded')
    .option('--undo', 'take it back: they go on where they were')
    .option('--plan', 'say how many files it concerns and what it costs, and do nothing')
    .action(async (names: string[], options: IgnoreOptions) =>
      exit(await (await import('./ignore.ts')).ignore(shell, names, options)),
    );
  json(
    command(
      'pause [folders...]',
      'begin nothing new: what runs is finished, and videos that the service has are polled and published; survives a restart',
    ),
  )
    .summary('begin nothing new, of some folders or at all')
    .option('--all', 'all folders')
    .option('--until <time>', 'end it by itself, at a time of day like 18:00 or after a time like 2h')
    .action(async (folders: string[], options: PauseOptions) =>
      exit(await (await import('./pause.ts')).pause(shell, folders, options)),
    );
  json(
    command(
      'resume [folder]',
      'end the pause of a folder; or go on with a frozen folder: trust the directory that is at its path now, and take its missing files for gone',
    ),
  )
    .summary('go on with a folder that is paused or frozen')
    .option('--all', 'end every pause that somebody set')
    .action(async (folder: string | undefined, options: Shared & { all?: boolean }) =>
      exit(await (await import('./resume.ts')).resume(shell, folder, options)),
    );
  json(command('publish <feeds...>', 'publish feeds now, each with one request for all that waits for it'))
    .summary('publish feeds now')
    .action(async (feeds: string[], options: Shared) =>
      exit(await (await import('./publish.ts')).publish(shell, feeds, options)),
    );
  selecting(
    json(
      command(
        'reapply [names...]',
        'ask the rules of now about files that they decided about before: show which titles, descriptions, tags and feeds change, and what that costs; no channel changes',
      ),
    ),
  )
    .summary('apply changed rules to files that were sent already')
    .option('--yes', 'do it')
    .action(async (names: string[], options: ReapplyOptions) =>
      exit(await (await import('./reapply.ts')).reapply(shell, names, options)),
    );
  json(command('add <paths...>', 'add files of a watched folder now, without waiting until they settle'))
    .summary('add files of a watched folder now')
    .action(async (paths: string[], options: Shared) =>
      exit(await (await import('./add.ts')).add(shell, paths, options)),
    );
}

function addDemoCommand(program: Command, { shell, exit }: Registry, samples: string): void {
  program
    .command('demo')
    .description('upload sample files to a local service; needs no account and no configuration')
    .summary('upload sample files to a local service; needs no account')
    .option('--keep', 'keep running afterwards')
    .action(async (options: { keep?: boolean }) => {
      const { demo } = await import('./demo.ts');
      exit(await demo(shell, { ...options, samples }));
    });
}

const AFTER_HELP = `
Configuration: --config PATH, else $DROPCAST_CONFIG, else ./dropcast.yaml,
else /etc/dropcast/dropcast.yaml.
Exit codes: 0 fine, 1 something failed or needs you, 2 wrong usage,
3 the daemon is not running, 78 the configuration is wrong.`;

/** The same as for `ls`. */
function selecting(command: Command): Command {
  return command
    .option('-s, --state <states>', 'all files in these states, separated by commas')
    .option('--folder <path>', 'only files of this watched folder')
    .option('--channel <id>', 'only files for this channel')
    .option('--feed <id>', 'only files for this feed')
    .option('--cause <code>', 'only files that stand still for this reason; `ls --counts` lists the codes')
    .option('--since <time>', 'only files that came or ended since then, like 24h, today or 2026-11-22')
    .option('-q, --query <text>', 'only files with this text in their path, title or video id');
}

function json(command: Command): Command {
  return command.option('--json', 'print JSON, {"v":1,…}');
}

/** Without `[options]`, which every command has. */
function termOf(command: Command): string {
  return `${command.name()} ${command.usage()}`.replaceAll(/ \[(?:options|command)\]/g, '');
}

/** Without `help`, which -h does too: the list must fit on one screen. */
function listed(command: Command): Command[] {
  return command.commands.slice();
}

function duration(text: string): number {
  const measured = parseDuration(text, { min: '0s', max: LONGEST });
  if (!measured.ok) throw new InvalidArgumentError(measured.message);
  return measured.value;
}

/** The exit code of an error thrown by parsing: 0 for `--help` and `--version`, else wrong usage; null for any other error. */
export function usageExitCode(error: unknown): number | null {
  if (!(error instanceof CommanderError)) return null;
  return error.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
}
