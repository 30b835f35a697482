import { Option } from 'commander';
import { duration, wholeNumber } from '../argument-types.ts';
import type { CommandRow } from '../registry.ts';

/** The read-only commands, which show current and past activity. */
export const lookCommands: readonly CommandRow[] = [
  {
    usage: 'status',
    does: 'show what is happening, and why. Exits 1 when something needs you (a file that failed or is held, a refused key, a full disk, a frozen folder, a missed delivery) and 3 when the daemon is not running',
    summary: 'show what is happening, and why',
    options: [new Option('--all', 'list every file that needs you, also those with the same cause')],
    load: async () => (await import('./status.ts')).status,
  },
  {
    usage: 'top',
    does: 'show live what is in progress, what limits it, and what needs you; q quits',
    summary: 'show live what is happening',
    options: [
      new Option('--once', 'print it once, as `dropcast status` does'),
      new Option('--interval <time>', 'with --json: how often to print it, like 5s')
        .argParser(duration)
        .default(2_000, '2s'),
    ],
    load: async () => (await import('./top.ts')).top,
  },
  {
    usage: 'ls',
    does: 'list the files, newest first',
    isSelecting: true,
    options: [
      new Option('-n, --limit <number>', 'list at most this many').argParser(wholeNumber(1, 1_000_000)).default(100),
      new Option('--after <cursor>', 'the page after this one, as `ls` named it'),
      new Option('--left-out', 'list the files that `include` does not select, as of the last scan'),
      new Option('--counts', 'count the files by state, folder, channel, feed and cause instead'),
    ],
    examples: ['ls --state failed,held', 'ls --since today --query evening --json'],
    load: async () => (await import('./ls.ts')).ls,
  },
  {
    usage: 'show <name>',
    does: 'show everything about one file, named by its id, video id, path or file name',
    summary: 'show everything about one file',
    load: async () => (await import('./show.ts')).show,
  },
  {
    usage: 'events',
    does: 'print the latest events of the daemon: arrivals, uploads, failures and what happens next',
    summary: 'print the latest events, or follow them',
    options: [
      new Option('-f, --follow', 'keep printing new events, until Ctrl-C'),
      new Option('--level <level>', 'only events of this level and worse')
        .choices(['info', 'warn', 'error'])
        .default('info'),
      new Option('--folder <path>', 'only events of this folder, or of this path in it'),
      new Option(
        '-n, --lines <number>',
        'at most this many: the newest (default: 50), or the first ones with --since',
      ).argParser(wholeNumber(1, 1_000_000)),
      new Option('--since <time>', 'all events since then, oldest first, like 24h, today or 2026-11-22').conflicts(
        'follow',
      ),
      new Option('--after <cursor>', 'only events after this cursor, as `events --since` named it').conflicts('follow'),
    ],
    examples: ['events -f --level warn', 'events --since 7d --level warn'],
    load: async () => (await import('./events.ts')).events,
  },
  {
    usage: 'failures',
    does: 'print what failed, why, and what happens next, from failures.jsonl; works without a daemon',
    summary: 'print what failed, why, and what happens next',
    options: [
      new Option('-f, --follow', 'keep printing new failures, until Ctrl-C'),
      new Option('--since <time>', 'how far back, like 24h or 7d').argParser(duration).default(86_400_000, '24h'),
    ],
    examples: ['failures --since 7d'],
    load: async () => (await import('./failures.ts')).failures,
  },
  {
    usage: 'open',
    does: 'open the status page of the daemon in a browser, or print a link that works once',
    summary: 'open the status page in a browser',
    options: [new Option('--print', 'only print the link')],
    load: async () => (await import('./open.ts')).open,
  },
];
