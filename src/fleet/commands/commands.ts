import { Option } from 'commander';
import type { CommandRow } from '../../cli/registry.ts';

/** The commands for the hosts that share a ledger, and for moving the ledger to a database, or back. */
export const fleetCommands: readonly CommandRow[] = [
  {
    usage: 'hosts',
    does: 'list the hosts of this fleet: what each of them is doing, when it was last heard from, and what waits for it; works without a daemon',
    summary: 'list the hosts of a fleet, or drain one',
    examples: ['hosts', 'hosts drain ingest2 --wait', 'hosts drain ingest2 --undo'],
    load: async () => (await import('./hosts.ts')).hosts,
    commands: [
      {
        usage: 'drain <name>',
        does: 'let a host finish its current work and start nothing new; the other hosts continue. The drain lasts until it is undone, even across restarts',
        summary: 'let a host finish its current work and start nothing new',
        options: [
          new Option('--undo', 'let it take files again'),
          new Option('--wait', 'return once nothing runs there'),
        ],
        load: async () => (await import('./hosts.ts')).drainHost,
      },
      {
        usage: 'forget <name>',
        does: 'remove a host that is permanently gone from the list; a running host is not removed',
        summary: 'remove a host that is permanently gone',
        load: async () => (await import('./hosts.ts')).forgetHost,
      },
    ],
  },
  {
    usage: 'ledger',
    does: 'move the ledger to a database for several hosts, or back',
    commands: [
      {
        usage: 'copy',
        does: 'copy the ledger from the state directory to an empty PostgreSQL database (--to), or back to a state directory without one (--from); everything is compared, and either all of it is copied or nothing',
        summary: 'copy the ledger to PostgreSQL, or back',
        options: [
          new Option(
            '--to [address]',
            'to this database, like postgres://dropcast@db.example.com/dropcast; default: ledger of the configuration',
          ),
          new Option('--from [address]', 'from this database; default: ledger of the configuration'),
          new Option('--password-file <path>', 'a file with nothing but the password for that address'),
          new Option('--ca <path>', 'PEM file with the certificate authorities to trust for that address'),
        ],
        note: `
Stop dropcast on every host first: it refuses while one runs.
The ledger that is copied stays as it is, and so do the receipts of each host.
Afterwards, set ledger in the configuration (or remove it, after --from), and
start dropcast.`,
        load: async () => (await import('./copy.ts')).copyLedgerCommand,
      },
    ],
  },
];
