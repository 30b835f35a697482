import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import type { Shell } from './shell.ts';

/** `dropcast systemd …`: what belongs to the service on this machine. */
export function addSystemdCommands(program: Command, shell: Shell): void {
  const systemd = program.command('systemd').description('set up the service of systemd for your folders');
  systemd
    .command('drop-in')
    .description(
      'print what the unit needs for the folders of its configuration: which it may write to, bind, and be in the groups of',
    )
    .summary('print what the unit needs for your folders')
    .option('-c, --config <path>', 'configuration file, instead of the one that the unit reads')
    .option('--install', 'write it to /etc/systemd/system, as root')
    .option('--instance <name>', 'for dropcast@NAME.service, which reads /etc/dropcast/NAME.yaml', instanceName)
    .action(async (options: { config?: string; install?: boolean; instance?: string }) =>
      (await import('./systemd-drop-in.ts')).dropIn(shell, options),
    );
}

/** What systemd.unit(5) allows in a name, without what would have to be escaped. */
function instanceName(text: string): string {
  if (/^[\w:.-]{1,100}$/.test(text) && !/^\.+$/.test(text) && text !== 'dropcast') return text;
  throw new InvalidArgumentError('a name has letters, digits, and any of : _ . - and is not "dropcast"');
}
