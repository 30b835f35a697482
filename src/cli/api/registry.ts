import { Option } from 'commander';
import type { Command } from 'commander';
import type { Shell } from '../shell.ts';
import type { Session } from './session.ts';
import type { TargetOptions } from './target.ts';

/** The options of every command of the API. */
export interface Shared extends TargetOptions {
  readonly json?: boolean;
}

/** What a group of commands is registered with. */
export interface Registry {
  readonly shell: Shell;
  /** A command with the options that all of them have. */
  command(group: Command, usage: string, texts: { readonly does: string; readonly example: string }): Command;
  /** Runs it against the service and sets the exit code. */
  run(options: TargetOptions, work: (session: Session) => Promise<number | void>): Promise<void>;
}

export const command: Registry['command'] = (group, usage, { does, example }) =>
  group
    .command(usage)
    .description(does)
    .option('--json', 'print JSON, {"v":1,…}')
    .addOption(where('-c, --config <path>', 'configuration file that names it and its key'))
    .addOption(
      where(
        '--base-url <url>',
        'its address in place of a configuration, else $DROPCAST_BASE_URL; the key is then $DROPCAST_API_KEY',
      ),
    )
    .addOption(where('--ca <file>', 'certificates (PEM) to trust beside the known ones'))
    .addHelpText('after', `\nExample:\n  $ dropcast ${example}\n${BUDGET}`);

/** Of the key, as the specification has it (api-spec section 8). */
const BUDGET = `
Each request counts in the hourly limit of the key, which a daemon with the same
key lives on too: a key of its own leaves the daemon alone.`;

function where(flags: string, description: string): Option {
  return new Option(flags, description).helpGroup('Where the service is:');
}
