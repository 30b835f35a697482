import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import type { Shell } from '../shell.ts';

/** Adds the `dropcast systemd …` commands for the service on this machine. */
export function addSystemdCommands(program: Command, shell: Shell): void {
  const systemd = program.command('systemd').description('set up the systemd service for your folders');
  systemd
    .command('drop-in')
    .description(
      'print the drop-in that gives the unit access to the folders of its configuration: writable paths, bind mounts and groups',
    )
    .summary('print the drop-in for your folders')
    .option('-c, --config <path>', 'configuration file (default: the one that the unit reads)')
    .option('--install', 'write it to /etc/systemd/system (as root)')
    .option('--instance <name>', 'for dropcast@NAME.service, which reads /etc/dropcast/NAME.yaml', instanceName)
    .action(async (options: { config?: string; install?: boolean; instance?: string }) =>
      (await import('./drop-in.ts')).dropIn(shell, options),
    );
}

/** Parses an instance name. Allows what systemd.unit(5) allows without escaping. */
export function instanceName(text: string): string {
  if (/^[\w:.-]{1,100}$/.test(text) && !/^\.+$/.test(text) && text !== 'dropcast') return text;
  throw new InvalidArgumentError('use letters, digits and : _ . -, and not the name "dropcast".');
}
