import { json } from '../../cli/registry.ts';
import type { Registry, Shared } from '../../cli/registry.ts';
import type { DrainOptions } from './hosts.ts';
import type { Command } from 'commander';
import type { Shell } from '../../cli/shell.ts';
import type { CopyLedgerOptions } from './copy.ts';

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

/** Adds `dropcast ledger …`: moves the ledger to a database, or back. */
export function addLedgerCommands(program: Command, shell: Shell): void {
  const ledger = program.command('ledger').description('move the ledger to a database for several hosts, or back');
  ledger
    .command('copy')
    .description(
      'copy the ledger from the state directory to an empty PostgreSQL database (--to), or back to a state directory without one (--from); everything is compared, and either all of it is copied or nothing',
    )
    .summary('copy the ledger to PostgreSQL, or back')
    .option('-c, --config <path>', 'configuration file')
    .option(
      '--to [address]',
      'to this database, like postgres://dropcast@db.example.com/dropcast; default: ledger of the configuration',
    )
    .option('--from [address]', 'from this database; default: ledger of the configuration')
    .option('--password-file <path>', 'a file with nothing but the password for that address')
    .option('--ca <path>', 'PEM file with the certificate authorities to trust for that address')
    .option('--json', 'print JSON, {"v":1,…}')
    .addHelpText(
      'after',
      `
Stop dropcast on every host first: it refuses while one runs.
The ledger that is copied stays as it is, and so do the receipts of each host.
Afterwards, set ledger in the configuration (or remove it, after --from), and
start dropcast.`,
    )
    .action(async (options: CopyLedgerOptions) => (await import('./copy.ts')).copyLedgerCommand(shell, options));
}
