import { json } from '../../cli/registry.ts';
import type { Registry, Shared } from '../../cli/registry.ts';
import type { DrainOptions } from './hosts.ts';

/** Adds `dropcast hosts …`: lists and manages the hosts that share the ledger. */
export function addHostCommands({ shell, command, exit }: Registry): void {
  const hosts = json(
    command(
      'hosts',
      'list the hosts of this fleet: what each of them is doing, when it was last heard from, and what waits for it; works without a daemon',
    ),
  )
    .summary('list the hosts of a fleet, or drain one')
    .action(async (options: Shared) => exit(await (await import('./hosts.ts')).hosts(shell, options)));
  json(
    hosts
      .command('drain <name>')
      .description(
        'let a host finish its current work and start nothing new; the other hosts continue. The drain lasts until it is undone, even across restarts',
      )
      .summary('let a host finish its current work and start nothing new')
      .option('-c, --config <path>', 'configuration file'),
  )
    .option('--undo', 'let it take files again')
    .option('--wait', 'return once nothing runs there')
    .action(async (name: string, options: DrainOptions) =>
      exit(await (await import('./hosts.ts')).drainHost(shell, name, options)),
    );
  json(
    hosts
      .command('forget <name>')
      .description('remove a host that is permanently gone from the list; a running host is not removed')
      .summary('remove a host that is permanently gone')
      .option('-c, --config <path>', 'configuration file'),
  ).action(async (name: string, options: Shared) =>
    exit(await (await import('./hosts.ts')).forgetHost(shell, name, options)),
  );
}
