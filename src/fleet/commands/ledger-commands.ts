import type { Command } from 'commander';
import type { Shell } from '../../cli/shell.ts';
import type { CopyLedgerOptions } from './copy.ts';

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
