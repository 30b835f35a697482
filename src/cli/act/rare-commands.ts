import { Option } from 'commander';
import type { AdoptOptions } from './adopt.ts';
import type { ReapplyOptions } from './reapply.ts';
import { json, selecting } from '../registry.ts';
import type { Registry, Shared } from '../registry.ts';
import type { SuspectsOptions } from './suspects.ts';

/** Adds the commands needed after a configuration change, a data loss or a move. */
export function addRareCommands({ shell, command, exit }: Registry): void {
  json(command('add <paths...>', 'add files of a watched folder now, without waiting until they settle'))
    .summary('add files of a watched folder now')
    .action(async (paths: string[], options: Shared) =>
      exit(await (await import('./add.ts')).add(shell, paths, options)),
    );
  json(
    command(
      'adopt [folder]',
      'list the files that were in a folder before dropcast watched it, and which of them are on the service; for a folder frozen because the ledger was restored from an older copy: record its files as uploaded',
    ),
  )
    .summary('compare an archive with the videos of the service')
    .option('--confirm', 'adopt the files that are on the service without uploading them, and upload the rest')
    .action(async (folder: string | undefined, options: AdoptOptions) =>
      exit(await (await import('./adopt.ts')).adopt(shell, options, folder)),
    );
  selecting(
    json(
      command(
        'reapply [names...]',
        'apply the current rules to files that were already sent: show which titles, descriptions, tags and feeds change, and what that costs; channels never change',
      ),
    ),
  )
    .summary('apply changed rules to files that were already sent')
    .option('--yes', 'do it')
    .addOption(
      new Option('--plan', 'show what would change and what it would cost, and change nothing (default)').conflicts(
        'yes',
      ),
    )
    .action(async (names: string[], options: ReapplyOptions) =>
      exit(await (await import('./reapply.ts')).reapply(shell, names, options)),
    );
  json(command('suspects', 'list the records that dropcast may have left empty on the service'))
    .summary('list records that may be empty on the service')
    .option('--dismiss <names...>', 'forget these, or `all`; deletes nothing on the service')
    .action(async (options: SuspectsOptions) => exit(await (await import('./suspects.ts')).suspects(shell, options)));
}
