import { Option } from 'commander';
import type { Command } from 'commander';
import { collect, collectOrigins, wholeNumber } from '../argument-types.ts';
import type { KeysOptions } from './keys.ts';
import type { RecordOptions } from './record.ts';
import type { SandboxCommandOptions } from './sandbox.ts';
import type { Shell } from '../shell.ts';

/**
 * `dropcast sandbox` and what is below it.
 * @param around.samples the folder of the media that the sandbox can be filled with
 * @param around.exit called with the exit code of the command
 */
export function addSandboxCommands(
  program: Command,
  shell: Shell,
  { samples, exit }: { readonly samples: string; exit(code: number): void },
): void {
  const command = program
    .command('sandbox')
    .description('run a video service on this machine, for trials and tests')
    .summary('run a local video service, and manage its keys')
    .enablePositionalOptions()
    .addOption(new Option('--host <address>', 'address to listen on').default('127.0.0.1'))
    .option('--expose', 'let other machines use it; needed for other than loopback addresses')
    .option('--external-url <url>', 'how others reach it, for all links: https://sandbox:8787')
    .option('--cors <origin>', 'let web pages of this origin use the API with a key; may be repeated', collect, [])
    .option('--port <number>', 'port to listen on, 0 for any free port', wholeNumber(0, 65_535), 8787)
    .option('--data <directory>', 'directory for records and files')
    .addOption(new Option('--memory', 'keep nothing after the end (default)').conflicts('data'))
    .option('--seed <number>', 'the same seed gives the same ids and key', wholeNumber(0, 2 ** 31), 1)
    .option('--requests-per-hour <number>', 'rate limit of a key', wholeNumber(1, 1_000_000_000), 1_000)
    .option('--tls', 'serve https with a certificate of its own; prints the file to trust')
    .addOption(
      new Option('--upload-origin <which>', 'serve uploads on the same port or on a separate one')
        .choices(['same', 'separate'])
        .default('same'),
    )
    .addOption(
      new Option('--import-from <where>', 'which hosts source_url and webhooks may use')
        .choices(['loopback', 'anywhere'])
        .default('loopback'),
    )
    .option(
      '--profile <name>',
      'a service that settles open points of the specification in another way: strict, lenient, wrapped, bare, terse, idempotent, queued-publish, oldest-first, other-webhooks, other-errors, behind-a-proxy, new-words, pending-until-ready or redirecting-uploads',
    )
    .option('--now <time>', 'begin at this time, 2026-11-20T12:00:00Z for example, so that all times can be repeated')
    .option('--set <switch=value>', 'settle a single point, for example create_status=202; can be repeated', collect)
    .option(
      '--json',
      'print one line of JSON when ready: {"v":1,"base_url","api_key","admin_url","admin_token","page_url"}, and "ca_path" with --tls',
    )
    .addHelpText('after', '\nWith --data, DIRECTORY/sandbox.json says where it runs; only its owner can read it.')
    .action(async (options: SandboxCommandOptions) =>
      (await import('./sandbox.ts')).sandbox(shell, { ...options, samples }),
    );
  addRecordCommands(command, shell, exit);
  addKeyCommands(command.command('keys').description('list, create and revoke the API keys of a sandbox'), shell);
}

function addRecordCommands(sandbox: Command, shell: Shell, exit: (code: number) => void): void {
  const port = (command: Command): Command =>
    command.option('--port <number>', 'port to listen on, 0 for any free port', wholeNumber(0, 65_535), 8788);
  port(sandbox.command('record'))
    .description(
      'stand between a program and a real service, and record what they say without keys and signed addresses; at the end, compare the service with openapi.yaml',
    )
    .summary('record what a program and a service say, and compare')
    .requiredOption('--to <url>', 'address of the service, with its version (required)')
    .option('--out <file>', 'file for the recording; must not exist', 'recording.ndjson')
    .option(
      '--redact <field>',
      'do not record the texts of this JSON field, title for example; can be repeated',
      collect,
    )
    .option(
      '--send-key-to <origin>',
      'send the key with uploads to this origin, too, https://uploads.example.com for example; can be repeated',
      collectOrigins,
    )
    .option('--ca <file>', 'further certificate (PEM) to trust')
    .addHelpText(
      'after',
      '\nExample:\n  $ dropcast sandbox record --to https://video.example.com/v1 --out today.ndjson',
    )
    .action(async (options: RecordOptions) => {
      exit(await (await import('./record.ts')).record(shell, options));
    });
  sandbox
    .command('compare <recording>')
    .description(
      'compare a recorded service with openapi.yaml, point by point; exit code 1 if it is not as the specification says or openapi.yaml assumes',
    )
    .summary('compare a recorded service with openapi.yaml')
    .option('--json', 'print JSON, {"v":1,…}')
    .action(async (file: string, options: { json?: boolean }) => {
      exit(await (await import('./record.ts')).compareRecording(shell, file, options));
    });
  port(sandbox.command('replay <recording>'))
    .description('answer a program from a recording, without the service; exit code 1 if it asked for something else')
    .summary('answer a program from a recording')
    .option('--strict', 'answer nothing more often than it was recorded')
    .action(async (file: string, options: { port: number; strict?: boolean }) => {
      exit(await (await import('./record.ts')).replay(shell, file, options));
    });
}

function addKeyCommands(keys: Command, shell: Shell): void {
  const command = (usage: string, description: string): Command =>
    keys
      .command(usage)
      .description(description)
      .option('--data <directory>', 'data folder of the sandbox, running or not')
      .addOption(new Option('--admin-url <url>', 'admin URL of a running sandbox').conflicts('data'))
      .option('--token <token>', 'its admin token, else $DROPCAST_SANDBOX_TOKEN')
      .option('--ca <file>', 'the certificate to trust, printed by the sandbox')
      .option('--json', 'print JSON, {"v":1,…}');
  command('list', 'list the keys and how they are used').action(async (options: KeysOptions) =>
    (await import('./keys.ts')).listKeys(shell, options),
  );
  command('create <name>', 'create a key and print its value, shown only once')
    .option('--read-only', 'let the key read only')
    .action(async (name: string, options: KeysOptions & { readOnly?: boolean }) =>
      (await import('./keys.ts')).createKey(shell, name, options),
    );
  command('revoke <id>', 'revoke a key at once, for example key_2').action(async (id: string, options: KeysOptions) =>
    (await import('./keys.ts')).revokeKey(shell, id, options),
  );
}
