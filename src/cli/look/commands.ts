import { Option } from 'commander';
import { duration, wholeNumber } from '../argument-types.ts';
import type { EventsOptions } from './events.ts';
import type { FailuresOptions } from './failures.ts';
import type { LsOptions } from './ls.ts';
import { json, selecting } from '../registry.ts';
import type { Registry, Shared } from '../registry.ts';

/** Adds the read-only commands, which show current and past activity. */
export function addLookCommands({ shell, command, exit }: Registry): void {
  json(
    command(
      'status',
      'show what is happening, and why. Exits 1 when something needs you (a file that failed or is held, a refused key, a full disk, a frozen folder, a missed delivery) and 3 when the daemon is not running',
    ),
  )
    .summary('show what is happening, and why')
    .option('--all', 'list every file that needs you, also those with the same cause')
    .action(async (options: Shared & { all?: boolean }) =>
      exit(await (await import('./status.ts')).status(shell, options)),
    );
  json(command('top', 'show live what is in progress, what limits it, and what needs you; q quits'))
    .summary('show live what is happening')
    .option('--once', 'print it once, as `dropcast status` does')
    .addOption(
      new Option('--interval <time>', 'with --json: how often to print it, like 5s')
        .argParser(duration)
        .default(2_000, '2s'),
    )
    .action(async (options: Shared & { once?: boolean; interval: number }) =>
      (await import('./top.ts')).top(shell, options),
    );
  selecting(json(command('ls', 'list the files, newest first')))
    .option('-n, --limit <number>', 'list at most this many', wholeNumber(1, 1_000_000), 100)
    .option('--after <cursor>', 'the page after this one, as `ls` named it')
    .option('--left-out', 'list the files that `include` does not select, as of the last scan')
    .option('--counts', 'count the files by state, folder, channel, feed and cause instead')
    .action(async (options: Shared & LsOptions) => (await import('./ls.ts')).ls(shell, options));
  json(command('show <name>', 'show everything about one file, named by its id, video id, path or file name'))
    .summary('show everything about one file')
    .action(async (name: string, options: Shared) => (await import('./show.ts')).show(shell, name, options));
  json(command('events', 'print the latest events of the daemon: arrivals, uploads, failures and what happens next'))
    .summary('print the latest events, or follow them')
    .option('-f, --follow', 'keep printing new events, until Ctrl-C')
    .addOption(
      new Option('--level <level>', 'only events of this level and worse')
        .choices(['info', 'warn', 'error'])
        .default('info'),
    )
    .option('--folder <path>', 'only events of this folder, or of this path in it')
    .option(
      '-n, --lines <number>',
      'at most this many: the newest (default: 50), or the first ones with --since',
      wholeNumber(1, 1_000_000),
    )
    .addOption(
      new Option('--since <time>', 'all events since then, oldest first, like 24h, today or 2026-11-22').conflicts(
        'follow',
      ),
    )
    .addOption(
      new Option('--after <cursor>', 'only events after this cursor, as `events --since` named it').conflicts('follow'),
    )
    .action(async (options: EventsOptions) => (await import('./events.ts')).events(shell, options));
  json(
    command('failures', 'print what failed, why, and what happens next, from failures.jsonl; works without a daemon'),
  )
    .summary('print what failed, why, and what happens next')
    .option('-f, --follow', 'keep printing new failures, until Ctrl-C')
    .addOption(
      new Option('--since <time>', 'how far back, like 24h or 7d').argParser(duration).default(86_400_000, '24h'),
    )
    .action(async (options: FailuresOptions) => (await import('./failures.ts')).failures(shell, options));
  json(command('open', 'open the status page of the daemon in a browser, or print a link that works once'))
    .summary('open the status page in a browser')
    .option('--print', 'only print the link')
    .action(async (options: Shared & { print?: boolean }) => (await import('./open.ts')).open(shell, options));
}
