import { isDeepStrictEqual } from 'node:util';
import { exitCodes } from '../../src/cli/shell.ts';
import { allCommands } from './command-tree.ts';
import type { CommandDocument, OptionDocument } from './command-tree.ts';
import { indented, item, page, paragraph, plain, section, styled, subsection, verbatim } from './roff.ts';

/**
 * dropcast(8): the commands as --help has them, and what a service needs to be told beside. @param epochSeconds its day
 */
export function programManual(program: CommandDocument, epochSeconds: number): string {
  return `${[
    page('DROPCAST', 8, epochSeconds),
    section('Name'),
    'dropcast \\- upload the videos that appear in watched folders',
    section('Synopsis'),
    styled('dropcast <command>') + plain(' [options] [arguments]'),
    section('Description'),
    plain(program.description),
    ...description.map(paragraph),
    section('Commands'),
    ...commandParts(program),
    section('Options'),
    plain('These options belong to dropcast itself. All others follow their command. Every command takes `--help`.'),
    ...program.options.map(option),
    section('Signals'),
    ...signals.map(([term, text]) => item(term, text)),
    section('Exit status'),
    ...Object.entries(exitTexts).map(([name, text]) => item(String(exitCodes[name as keyof typeof exitCodes]), text)),
    section('Environment'),
    ...environment.map(([term, text]) => item(term, text)),
    section('Files'),
    ...files.map(([term, text]) => item(term, text)),
    section('Examples'),
    ...examples
      .map(([text, lines]) => `${plain(text)}\n${verbatim(lines)}`)
      .join('\n.PP\n')
      .split('\n'),
    section('See also'),
    plain('`dropcast.yaml`(5), `systemctl`(1), `journalctl`(1), `systemd.exec`(5), `systemd-creds`(1)'),
  ].join('\n')}\n`;
}

/** Under the headings of --help, each with the commands below it; what all under a heading share is said once. */
function commandParts(program: CommandDocument): readonly string[] {
  return [...Map.groupBy(program.commands, ({ group }) => group)].flatMap(([group, commands]) => {
    const all = commands.flatMap(allCommands);
    const shared = sharedBy(all.filter((command) => command.commands.length === 0));
    return [
      subsection(group),
      ...(shared.options.length === 0 ? [] : [plain('All of these take:'), ...shared.options.map(option)]),
      ...shared.remarks.map(remark),
      ...all.map((command) => commandPart(command, shared)),
    ];
  });
}

interface Shared {
  readonly options: readonly OptionDocument[];
  readonly remarks: readonly string[];
}

function sharedBy(commands: readonly CommandDocument[]): Shared {
  const inAll = <T>(of: (command: CommandDocument) => readonly T[]): readonly T[] =>
    commands.length < 2
      ? []
      : of(commands[0] as CommandDocument).filter((one) =>
          commands.every((command) => of(command).some((other) => isDeepStrictEqual(one, other))),
        );
  return { options: inAll(ownOptions), remarks: inAll(remarksOf) };
}

function ownOptions({ options }: CommandDocument): readonly OptionDocument[] {
  return options.filter(({ long }) => long !== '--help');
}

/** Examples and remarks of --help, which are laid out by hand. */
function remarksOf({ after }: CommandDocument): readonly string[] {
  return after === '' ? [] : after.split(/\n\n/);
}

function remark(text: string): string {
  return verbatim(text, 0);
}

function commandPart(command: CommandDocument, shared: Shared): string {
  const isNew = (one: unknown): boolean =>
    ![...shared.options, ...shared.remarks].some((other) => isDeepStrictEqual(one, other));
  const options = ownOptions(command);
  const usage = [
    command.path,
    ...command.arguments.map(({ term }) => term),
    ...(options.length > 0 ? ['[options]'] : []),
  ];
  const below = [...options.filter(isNew).map(option), ...remarksOf(command).filter(isNew).map(remark)];
  return [item(usage.join(' '), sentence(command.description)), ...indented(below)].join('\n');
}

function option({ short, long, description, standard, value }: OptionDocument): string {
  const flags = (short === null ? '' : `${short}, `) + long + (value === null ? '' : ` <${value.name}>`);
  const choices =
    value !== null && 'of' in value ? ` ${value.kind === 'one' ? 'One of' : 'Any of'}: ${value.of.join(', ')}.` : '';
  return item(flags, `${sentence(description)}${choices}${standard === null ? '' : ` Default: ${standard}.`}`);
}

function sentence(text: string): string {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?}]$/.test(start) ? start : `${start}.`;
}

const description = [
  'dropcast waits until a file is complete, creates a video, uploads the file, waits until the video is ready, and publishes the feeds. The rules of the folder choose the channel, tags and title. You can stop it at any time: it loses nothing and uploads nothing twice.',
  'The systemd service is `dropcast.service`. For more accounts, use instances of `dropcast@.service`, each with its own configuration and key. Nothing runs until you enable it.',
];

const signals: readonly (readonly [string, string])[] = [
  [
    'SIGTERM, SIGINT',
    'The daemon accepts no new work and waits for running uploads. A second signal aborts them; they continue at the next start. A third signal ends the process at once, and still loses nothing.',
  ],
  [
    'SIGHUP',
    'The daemon reloads its configuration. If that has mistakes, the daemon logs them and keeps the old one. `systemctl reload dropcast` waits for the result.',
  ],
];

const exitTexts: Readonly<Record<keyof typeof exitCodes, string>> = {
  fine: 'Fine.',
  failed: 'Something failed, or needs a person.',
  usage: 'Wrong usage.',
  notRunning: 'The daemon is not running.',
  badConfig: 'The configuration is wrong. systemd does not restart the service; correct the configuration first.',
};

const environment: readonly (readonly [string, string])[] = [
  ['DROPCAST_CONFIG', 'The configuration file, unless `--config` names one.'],
  [
    'DROPCAST_BASE_URL, DROPCAST_API_KEY',
    'Service and key for `videos`, `channels`, `feeds` and `analytics` without a configuration.',
  ],
  ['DROPCAST_SANDBOX_TOKEN', 'Admin token for `sandbox keys`.'],
  ['CREDENTIALS_DIRECTORY', 'Directory of the credentials that `!credential NAME` reads; set by systemd.'],
  [
    'STATE_DIRECTORY, RUNTIME_DIRECTORY, LOGS_DIRECTORY',
    'Directories of the ledger, the control socket and the failure log, unless the configuration names others; set by systemd.',
  ],
  ['XDG_STATE_HOME', 'Parent of the state directory when systemd does not set one.'],
  ['NO_COLOR', 'If set, no colours, not even on a terminal.'],
];

const files: readonly (readonly [string, string])[] = [
  ['/etc/dropcast/dropcast.yaml', 'The configuration of `dropcast.service`, see `dropcast.yaml`(5).'],
  [
    '/etc/dropcast/api_key',
    'Its API key, which only root can read; systemd passes it to the service (`LoadCredential=`). A new key takes effect after a restart.',
  ],
  ['/etc/dropcast/<name>.yaml, /etc/dropcast/<name>.key', 'The same for `dropcast@`NAME`.service`.'],
  [
    '/etc/systemd/system/dropcast.service.d/folders.conf',
    'The folders that the service may use; written by `dropcast setup`.',
  ],
  ['/var/lib/dropcast', 'Ledger, its backups, and receipts.'],
  ['/var/log/dropcast/failures.jsonl', 'One line of JSON per failure.'],
  ['/run/dropcast/dropcast.sock', 'Control socket of the running daemon.'],
];

const examples: readonly (readonly [string, string])[] = [
  ['Try it, without an account or a configuration:', 'dropcast demo'],
  ['Set up the service:', 'sudo dropcast setup'],
  ['Add a folder:', 'sudo editor /etc/dropcast/dropcast.yaml\nsudo dropcast setup'],
  ['List the files that need you, and retry them:', 'sudo dropcast ls --state failed,held\nsudo dropcast retry --all'],
];
