import { Option } from 'commander';
import type { Command } from 'commander';
import type { Shell } from '../shell.ts';
import type { Session } from './session.ts';
import type { TargetOptions } from './target.ts';

/** Options of every API command. */
export interface Shared extends TargetOptions {
  readonly json?: boolean;
}

/** Registers a group of commands. */
export interface Registry {
  readonly shell: Shell;
  /** Adds a command with the options that all API commands share. */
  command(group: Command, usage: string, texts: Texts): Command;
  /** Runs a command against the service and sets the exit code. */
  run(options: TargetOptions, work: (session: Session) => Promise<number | void>): Promise<void>;
}

interface Texts {
  readonly does: string;
  readonly example: string;
  /** Text after the example; by default the note on the request budget. */
  readonly note?: string;
}

export const command: Registry['command'] = (group, usage, { does, example, note = BUDGET }) =>
  group
    .command(usage)
    .description(does)
    .option('--json', 'print JSON, {"v":1,…}')
    .addOption(where('-c, --config <path>', 'configuration file with the address and key of the service'))
    .addOption(
      where(
        '--base-url <url>',
        'address of the service, instead of a configuration (default: $DROPCAST_BASE_URL); the key is then $DROPCAST_API_KEY',
      ),
    )
    .addOption(where('--ca <file>', 'additional certificates (PEM) to trust'))
    .addHelpText('after', `\nExample:\n  $ dropcast ${example}\n${note}`);

/** Note on the request budget (api-spec section 8). */
const BUDGET = `
Each request counts against the hourly limit of the key. A daemon with the same
key shares that limit: use another key to leave the daemon its own.`;

function where(flags: string, description: string): Option {
  return new Option(flags, description).helpGroup('Where the service is:');
}
