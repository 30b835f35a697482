import { Option } from 'commander';
import { collect } from '../argument-types.ts';
import type { CommandRow } from '../registry.ts';
import { instanceName } from '../systemd/commands.ts';

const answers = [
  new Option('--service <url>', 'address of the API, like https://video.example.com/v1'),
  new Option('--key-file <path>', 'file with the API key; - is standard input').conflicts('keyEnv'),
  new Option('--key-env <name>', 'environment variable with the API key'),
  new Option('--folder <dir>', 'folder to watch; created if missing'),
  new Option('--channel <id>', 'channel of its videos'),
  new Option('--title <template>', 'title of each video, like "{title} ({date})"'),
  new Option('--feed <id>', 'feed to publish with each video; repeatable').argParser(collect),
  new Option('-y, --yes', 'do not ask: accept changes of permissions, and skip optional steps'),
  new Option('--plan', 'show what would be written, and change nothing'),
  new Option('--force', 'replace an existing configuration or key; an earlier configuration is kept next to it'),
];

/** The commands that create a working configuration, and check whether it still works. */
export const setupCommands: readonly CommandRow[] = [
  {
    usage: 'setup',
    does: 'set up the installed service, as root: asks for address, key, folder and channel, writes configuration, key, permissions and drop-in, starts the service, and waits until it is ready; when run again, it continues where it stopped',
    summary: 'set up the installed service; asks, or takes flags',
    shared: answers,
    options: [
      new Option('--instance <name>', 'set up dropcast@NAME.service, which reads /etc/dropcast/NAME.yaml').argParser(
        instanceName,
      ),
      new Option('--group <name>', 'group that shares a new folder; created if missing (default: dropcast)'),
      new Option('--test-clip', 'then send a test clip and remove it again'),
      new Option('--probe', 'then find out which settings the service needs, as `dropcast probe` does'),
    ],
    examples: ['setup --service https://video.example.com/v1 --key-file api_key --plan'],
    load: async ({ samples }) => (await import('./setup.ts')).setup.bind(null, samples),
  },
  {
    usage: 'init',
    does: 'write a first configuration for yourself: asks for address, key, folder and channel, and checks each answer',
    summary: 'write a first configuration; asks, or takes flags',
    shared: [new Option('-c, --config <path>', 'configuration file to write (default: ./dropcast.yaml)'), ...answers],
    load: async () => (await import('./init.ts')).init,
  },
  {
    usage: 'doctor',
    does: 'find everything that is wrong with this installation or soon will be: configuration, unit, permissions, disks, clock, key, ledger; each finding names the command that fixes it',
    summary: 'find what is wrong, with the command that fixes it',
    options: [
      new Option('--canary', 'also send a test clip through the running daemon, and remove it again'),
      new Option(
        '--bundle <file>',
        'write findings, configuration, log and rows to a .tar.gz for a report, without secrets',
      ),
      new Option('--with-names', 'keep file names in the bundle'),
    ],
    examples: ['doctor --canary', 'doctor --bundle report.tar.gz'],
    load: async (installed) => (await import('../doctor/doctor.ts')).doctor.bind(null, installed),
  },
];
