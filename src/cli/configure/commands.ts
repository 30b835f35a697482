import { json } from '../registry.ts';
import type { Registry, Shared } from '../registry.ts';

/** Adds the commands that check, preview and apply a configuration. */
export function addConfigCommands({ shell, command, exit }: Registry): void {
  json(command('check', 'report every problem with the configuration, folders, state and key'))
    .summary('report problems with configuration, folders, state, key')
    .option('--online', 'also check key, channels and feeds with the service')
    .action(async (options: Shared & { online?: boolean }) =>
      exit(await (await import('./check.ts')).check(shell, options)),
    );
  json(command('explain <path>', 'show which rule matches a path, what would be sent, and the state of the file'))
    .summary('show which rule matches a file, and its state')
    .action(async (path: string, options: Shared) => (await import('./explain.ts')).explain(shell, path, options));
  json(
    command(
      'plan [path]',
      'show what would happen to the files in the folders: how many, how large, duplicates, held files, requests, and when everything would be done; sends and writes nothing',
    ),
  )
    .summary('show what would be uploaded; sends nothing')
    .option('--no-hash', 'do not read files of the same size to find duplicates')
    .action(async (path: string | undefined, options: Shared & { hash: boolean }) =>
      exit(await (await import('./plan.ts')).plan(shell, path, options)),
    );
  json(command('reload', 'make the daemon read its configuration again, and report the result'))
    .summary('make the daemon read its configuration again')
    .option(
      '--plan',
      'only show what would change: folders, waiting files, and what new rules would cost for finished ones',
    )
    .action(async (options: Shared & { plan?: boolean }) => (await import('./reload.ts')).reload(shell, options));
}
