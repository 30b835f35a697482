import { Option } from 'commander';
import type { Command } from 'commander';
import { collect } from '../argument-types.ts';
import type { DoctorOptions, Installed } from '../doctor/doctor.ts';
import type { InitOptions } from './init.ts';
import type { SetupOptions } from './setup.ts';
import type { Shell } from '../shell.ts';
import { instanceName } from '../systemd/commands.ts';

/** Adds the commands that create a working configuration, and check whether it still works. */
export function addSetupCommands(
  program: Command,
  shell: Shell,
  installed: Installed,
  exit: (code: number) => void,
): void {
  withAnswers(
    program
      .command('setup')
      .description(
        'set up the installed service, as root: asks for address, key, folder and channel, writes configuration, key, permissions and drop-in, starts the service, and waits until it is ready; when run again, it continues where it stopped',
      )
      .summary('set up the installed service; asks, or takes flags'),
  )
    .option('--instance <name>', 'set up dropcast@NAME.service, which reads /etc/dropcast/NAME.yaml', instanceName)
    .option('--group <name>', 'group that shares a new folder; created if missing (default: dropcast)')
    .option('--test-clip', 'then send a test clip and remove it again')
    .option('--probe', 'then find out which settings the service needs, as `dropcast probe` does')
    .action(async (options: SetupOptions) => (await import('./setup.ts')).setup(shell, installed.samples, options));
  withAnswers(
    program
      .command('init')
      .description(
        'write a first configuration for yourself: asks for address, key, folder and channel, and checks each answer',
      )
      .summary('write a first configuration; asks, or takes flags')
      .option('-c, --config <path>', 'configuration file to write (default: ./dropcast.yaml)'),
  ).action(async (options: InitOptions) => (await import('./init.ts')).init(shell, options));
  program
    .command('doctor')
    .description(
      'find everything that is wrong with this installation or soon will be: configuration, unit, permissions, disks, clock, key, ledger; each finding names the command that fixes it',
    )
    .summary('find what is wrong, with the command that fixes it')
    .option('-c, --config <path>', 'configuration file')
    .option('--json', 'print JSON, {"v":1,…}')
    .option('--canary', 'also send a test clip through the running daemon, and remove it again')
    .option('--bundle <file>', 'write findings, configuration, log and rows to a .tar.gz for a report, without secrets')
    .option('--with-names', 'keep file names in the bundle')
    .action(async (options: DoctorOptions) =>
      exit(await (await import('../doctor/doctor.ts')).doctor(shell, installed, options)),
    );
}

function withAnswers(command: Command): Command {
  return command
    .option('--service <url>', 'address of the API, like https://video.example.com/v1')
    .addOption(new Option('--key-file <path>', 'file with the API key; - is standard input').conflicts('keyEnv'))
    .option('--key-env <name>', 'environment variable with the API key')
    .option('--folder <dir>', 'folder to watch; created if missing')
    .option('--channel <id>', 'channel of its videos')
    .option('--title <template>', 'title of each video, like "{title} ({date})"')
    .option('--feed <id>', 'feed to publish with each video; repeatable', collect)
    .option('-y, --yes', 'do not ask: accept changes of permissions, and skip optional steps')
    .option('--plan', 'show what would be written, and change nothing')
    .option('--force', 'replace an existing configuration or key; an earlier configuration is kept next to it');
}
