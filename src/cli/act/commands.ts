import type { IgnoreOptions } from './ignore.ts';
import type { PauseOptions } from './pause.ts';
import { json, selecting } from '../registry.ts';
import type { Registry, Shared } from '../registry.ts';
import type { RetryOptions } from './retry.ts';

/** Adds the commands that act on files, folders and feeds. */
export function addActCommands({ shell, command, exit }: Registry): void {
  selecting(
    json(
      command(
        'retry [names...]',
        'retry failed, held, skipped or waiting files, named by id, video id, path or file name',
      ),
    ),
  )
    .summary('retry files that failed, are held, skipped or waiting')
    .option('--all', 'all failed, held and waiting files that a retry may fix')
    .option('--force', 'also files that a retry cannot fix, such as damaged ones')
    .option(
      '--to <channel>',
      'send them to this channel instead of the one in their rules; not possible for files that already have a video',
    )
    .option('--plan', 'only show how many files it affects and what it costs')
    .action(async (names: string[], options: RetryOptions) =>
      exit(await (await import('./retry.ts')).retry(shell, names, options)),
    );
  selecting(
    json(
      command(
        'ignore [names...]',
        'ignore files that failed, are held or waiting: they are not uploaded until they change or you retry them',
      ),
    ),
  )
    .summary('ignore unwanted files')
    .option('--undo', 'stop ignoring them: they continue where they left off')
    .option('--plan', 'only show how many files it affects and what it costs')
    .action(async (names: string[], options: IgnoreOptions) =>
      exit(await (await import('./ignore.ts')).ignore(shell, names, options)),
    );
  json(
    command(
      'pause [folders...]',
      'stop starting new work: uploads in progress are finished, and videos already on the service are polled and published; survives a restart',
    ),
  )
    .summary('stop starting new work, in some folders or all')
    .option('--all', 'all folders')
    .option('--until <time>', 'end the pause automatically, at a time of day like 18:00 or after a duration like 2h')
    .action(async (folders: string[], options: PauseOptions) =>
      exit(await (await import('./pause.ts')).pause(shell, folders, options)),
    );
  json(
    command(
      'resume [folder]',
      'end the pause of a folder, or resume a frozen folder: trust the directory now at its path, and treat its missing files as gone',
    ),
  )
    .summary('resume a folder that is paused or frozen')
    .option('--all', 'end every pause')
    .action(async (folder: string | undefined, options: Shared & { all?: boolean }) =>
      exit(await (await import('./resume.ts')).resume(shell, folder, options)),
    );
  json(command('publish <feeds...>', 'publish feeds now, each with one request for everything that waits for it'))
    .summary('publish feeds now')
    .action(async (feeds: string[], options: Shared) =>
      exit(await (await import('./publish.ts')).publish(shell, feeds, options)),
    );
}
