import { Option } from 'commander';
import { wholeNumber } from '../argument-types.ts';
import type { CommandRow } from '../registry.ts';

/** The commands that act on files, folders and feeds. */
export const actCommands: readonly CommandRow[] = [
  {
    usage: 'retry [names...]',
    does: 'retry failed, held, skipped or waiting files, named by id, video id, path or file name',
    summary: 'retry files that failed, are held, skipped or waiting',
    isSelecting: true,
    options: [
      new Option('--all', 'all failed, held and waiting files that a retry may fix'),
      new Option('--force', 'also files that a retry cannot fix, such as damaged ones'),
      new Option(
        '--to <channel>',
        'send them to this channel instead of the one in their rules; not possible for files that already have a video',
      ),
      new Option('--plan', 'only show how many files it affects and what it costs'),
    ],
    examples: ['retry --all', 'retry --cause unknown_channel --to ch_news'],
    load: async () => (await import('./files.ts')).retry,
  },
  {
    usage: 'ignore [names...]',
    does: 'ignore files that failed, are held or waiting: they are not uploaded until they change or you retry them',
    summary: 'ignore unwanted files',
    isSelecting: true,
    options: [
      new Option('--undo', 'stop ignoring them: they continue where they left off'),
      new Option('--plan', 'only show how many files it affects and what it costs'),
    ],
    examples: ['ignore --state held --query .mkv --plan', 'ignore --undo evening.mp4'],
    load: async () => (await import('./files.ts')).ignore,
  },
  {
    usage: 'pause [folders...]',
    does: 'stop starting new work: uploads in progress are finished, and videos already on the service are polled and published; survives a restart',
    summary: 'stop starting new work, in some folders or all',
    options: [
      new Option('--all', 'all folders'),
      new Option(
        '--until <time>',
        'end the pause automatically, at a time of day like 18:00 or after a duration like 2h',
      ),
    ],
    examples: ['pause --all --until 18:00', 'pause /srv/video/inbox'],
    load: async () => (await import('./pause.ts')).pause,
  },
  {
    usage: 'resume [folder]',
    does: 'end the pause of a folder, or resume a frozen folder: trust the directory now at its path, and treat its missing files as gone',
    summary: 'resume a folder that is paused or frozen',
    options: [new Option('--all', 'end every pause')],
    load: async () => (await import('./pause.ts')).resume,
  },
  {
    usage: 'publish <feeds...>',
    does: 'publish feeds now, each with one request for everything that waits for it',
    summary: 'publish feeds now',
    load: async () => (await import('./now.ts')).publish,
  },
];

/** The commands needed now and then: for an urgent file, or after a configuration change, a data loss or a move. */
export const rareCommands: readonly CommandRow[] = [
  {
    usage: 'first [names...]',
    does: 'put waiting files before all others, the first name foremost: they get the next create request and the next upload slot; survives a restart',
    summary: 'put waiting files before all others',
    isSelecting: true,
    options: [
      new Option('--undo', 'put them back in line: they wait for their turn'),
      new Option('--plan', 'only show how many files it affects'),
    ],
    examples: ['first evening.mp4', 'first --undo evening.mp4'],
    load: async () => (await import('./files.ts')).first,
  },
  {
    usage: 'add <paths...>',
    does: 'add files of a watched folder now, without waiting until they settle',
    summary: 'add files of a watched folder now',
    load: async () => (await import('./now.ts')).add,
  },
  {
    usage: 'adopt [folder]',
    does: 'list the files that were in a folder before dropcast watched it, and which of them are on the service; for a folder frozen because the ledger was restored from an older copy: record its files as uploaded',
    summary: 'compare an archive with the videos of the service',
    options: [
      new Option('--confirm', 'adopt the files that are on the service without uploading them, and upload the rest'),
    ],
    examples: ['adopt', 'adopt --confirm'],
    load: async () => (await import('./adopt.ts')).adopt,
  },
  {
    usage: 'audit',
    does: 'compare disk, ledger and service: videos that are gone, unknown, doubled or changed by hand, and the local files that may be deleted; shows the last audit, or what one would cost; changes nothing on the disk or the service',
    summary: 'find out whether everything is really on the service',
    options: [
      new Option('--folder <path>', 'only files of this watched folder'),
      new Option('--since <time>', 'only files that arrived or ended since then, like 24h, yesterday or 2026-11-22'),
      new Option('--quick', 'only read the list of videos: ask about no single video, and read no local file'),
      new Option('--plan', 'show what an audit would cost'),
      new Option('--yes', 'begin an audit'),
      new Option('--stop', 'end the running audit, and keep what it found'),
      new Option('--paths', 'print the paths of the local files that may be deleted, for `xargs -0`'),
    ],
    examples: ['audit --plan', 'audit --yes', 'audit --paths'],
    load: async () => (await import('./audit.ts')).audit,
  },
  {
    usage: 'reapply [names...]',
    does: 'apply the current rules to files that were already sent: show which titles, descriptions, tags and feeds change, and what that costs; channels never change',
    summary: 'apply changed rules to files that were already sent',
    isSelecting: true,
    options: [
      new Option('--yes', 'do it'),
      new Option('--plan', 'show what would change and what it would cost, and change nothing (default)').conflicts(
        'yes',
      ),
    ],
    examples: ['reapply --since 7d', 'reapply --folder /srv/video/inbox --yes'],
    load: async () => (await import('./files.ts')).reapply,
  },
  {
    usage: 'undo',
    does: 'list the uploads since a time or by a rule, and what taking them back would delete; without --since and --rule, show the progress of the last run. --yes deletes videos permanently: those that dropcast made, that were not edited since, and whose local copy is still there',
    summary: 'take back what a wrong rule uploaded',
    options: [
      new Option('--since <time>', 'only videos created since then, like 2h, yesterday or 2026-11-22T14:00'),
      new Option('--rule <key>', 'only files of this rule; `show` prints it'),
      new Option('--folder <path>', 'only files of this watched folder'),
      new Option('--check', 'also read the list of the service now, to show which titles were edited'),
      new Option('--yes <count>', 'delete them; the number must be the one in the list').argParser(
        wholeNumber(1, 1_000_000),
      ),
      new Option('--stop', 'stop a run after the video that is being deleted'),
    ],
    examples: ["undo --rule 'folders[0].rules[1]' --since today", 'undo', 'undo --stop'],
    load: async () => (await import('./undo.ts')).undo,
  },
  {
    usage: 'suspects',
    does: 'list the records that dropcast may have left empty on the service',
    summary: 'list records that may be empty on the service',
    options: [new Option('--dismiss <names...>', 'forget these, or `all`; deletes nothing on the service')],
    load: async () => (await import('./suspects.ts')).suspects,
  },
];

/** The commands for notification targets. */
export const notifyCommands: CommandRow = {
  usage: 'notify',
  does: 'test the notification targets',
  commands: [
    {
      usage: 'test [target]',
      does: 'send a test message to every notify target, or to the one with this name, and print what each answers',
      summary: 'send a test message to every target',
      load: async () => (await import('./notify-test.ts')).notifyTest,
    },
  ],
};
