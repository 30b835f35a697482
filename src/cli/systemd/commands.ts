import { InvalidArgumentError, Option } from 'commander';
import type { CommandRow } from '../registry.ts';

/** The commands for the service on this machine. */
export const systemdCommands: CommandRow = {
  usage: 'systemd',
  does: 'set up the systemd service for your folders',
  commands: [
    {
      usage: 'drop-in',
      does: 'print the drop-in that gives the unit access to the folders of its configuration: writable paths, bind mounts and groups',
      summary: 'print the drop-in for your folders',
      shared: [
        new Option('-c, --config <path>', 'configuration file (default: the one that the unit reads)'),
        new Option('--install', 'write it to /etc/systemd/system (as root)'),
        new Option('--instance <name>', 'for dropcast@NAME.service, which reads /etc/dropcast/NAME.yaml').argParser(
          instanceName,
        ),
      ],
      load: async () => (await import('./drop-in.ts')).dropIn,
    },
  ],
};

/** Parses an instance name. Allows what systemd.unit(5) allows without escaping. */
export function instanceName(text: string): string {
  if (/^[\w:.-]{1,100}$/.test(text) && !/^\.+$/.test(text) && text !== 'dropcast') return text;
  throw new InvalidArgumentError('use letters, digits and : _ . -, and not the name "dropcast".');
}
