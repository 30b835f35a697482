import { Option } from 'commander';
import type { Command } from 'commander';
import { collect, wholeNumber } from './argument-types.ts';
import type { KeysOptions } from './keys.ts';
import type { SandboxCommandOptions } from './sandbox.ts';
import type { Tables, Terminal } from './terminal.ts';

/**
 * Makes a command, such as `dropcast sandbox`, run the sandbox.
 *
 * @param samples folder of media for filling the sandbox; null: a short clip from the package
 */
export function addSandboxCommand(command: Command, terminal: Terminal, samples: string | null): void {
  withServiceOptions(command, 8787)
    .description('run a video service on this machine, for trials and tests')
    .summary('run a local video service, and manage its keys')
    .enablePositionalOptions()
    .option(
      '--json',
      'print one line of JSON when ready: {"v":1,"base_url","api_key","admin_url","admin_token","page_url"}, and "ca_path" with --tls',
    )
    .addHelpText('after', '\nWith --data, DIRECTORY/sandbox.json says where it runs; only its owner can read it.')
    .action(async (options: SandboxCommandOptions) =>
      (await import('./sandbox.ts')).sandbox(terminal, { ...options, samples }),
    );
}

/**
 * Adds `run`, which runs a command against a sandbox of its own.
 *
 * @param exit called with the exit code of the command
 */
export function addRunCommand(program: Command, terminal: Terminal, exit: (code: number) => void): void {
  withServiceOptions(program.command('run'), 0)
    .description('start a sandbox, run a command against it, such as the tests of a program, and stop it')
    .argument('<command...>', 'the command and its arguments')
    .passThroughOptions()
    .addHelpText(
      'after',
      `
The command finds the sandbox in its environment: DROPCAST_BASE_URL, DROPCAST_API_KEY; for the admin side
DROPCAST_SANDBOX_URL and DROPCAST_SANDBOX_TOKEN; with --tls also NODE_EXTRA_CA_CERTS. Videos are ready as soon as
they are probed. The exit code is that of the command.

Example: dropcast-sandbox run -- python3 -m unittest`,
    )
    .action(async (command: string[], options: SandboxCommandOptions) =>
      exit(await (await import('./run.ts')).runAgainst(terminal, { ...options, samples: null }, command)),
    );
}

/** Adds the options of a sandbox. @param port the default */
function withServiceOptions(command: Command, port: number): Command {
  return command
    .addOption(new Option('--host <address>', 'address to listen on').default('127.0.0.1'))
    .option('--expose', 'let other machines use it; required for addresses other than loopback')
    .option('--external-url <url>', 'address under which others reach it, for all links: https://sandbox:8787')
    .option('--cors <origin>', 'let web pages of this origin use the API with a key; may be repeated', collect, [])
    .option('--port <number>', 'port to listen on, 0 for any free port', wholeNumber(0, 65_535), port)
    .option('--data <directory>', 'directory for records and files')
    .addOption(new Option('--memory', 'keep nothing after exit (default)').conflicts('data'))
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
      'a service that settles open points of the specification differently: strict, lenient, wrapped, bare, terse, idempotent, queued-publish, oldest-first, other-webhooks, bunny-webhooks, mux-webhooks, cloudflare-webhooks, other-errors, behind-a-proxy, reported-limits, bursts-unreported, bursts-reported, bursts-in-milliseconds, new-words, pending-until-ready, redirecting-uploads, upload-headers, required-headers, listed-headers, signed-without-type, daily-quota, daily-limit, full-storage, small-uploads, small-objects, small-files, resumable-sessions or tus',
    )
    .option(
      '--now <time>',
      'start the clock at this time, such as 2026-11-20T12:00:00Z, so that all times are reproducible',
    )
    .option('--set <switch=value>', 'settle a single point, for example create_status=202; can be repeated', collect);
}

/**
 * Adds `keys`, which manages the API keys of a sandbox.
 *
 * @param tables loaded only when keys are listed
 */
export function addKeyCommands(sandbox: Command, terminal: Terminal, tables: () => Promise<Tables>): void {
  const keys = sandbox.command('keys').description('list, create and revoke the API keys of a sandbox');
  const command = (usage: string, description: string): Command =>
    keys
      .command(usage)
      .description(description)
      .option('--data <directory>', 'data folder of the sandbox, running or not')
      .addOption(new Option('--admin-url <url>', 'admin URL of a running sandbox').conflicts('data'))
      .option('--token <token>', 'its admin token (default: $DROPCAST_SANDBOX_TOKEN)')
      .option('--ca <file>', 'the certificate to trust, printed by the sandbox')
      .option('--json', 'print JSON, {"v":1,…}');
  command('list', 'list the keys and how they are used').action(async (options: KeysOptions) =>
    (await import('./keys.ts')).listKeys(terminal, options, tables),
  );
  command('create <name>', 'create a key and print its value, shown only once')
    .option('--read-only', 'make the key read-only')
    .action(async (name: string, options: KeysOptions & { readOnly?: boolean }) =>
      (await import('./keys.ts')).createKey(terminal, name, options),
    );
  command('revoke <id>', 'revoke a key at once, for example key_2').action(async (id: string, options: KeysOptions) =>
    (await import('./keys.ts')).revokeKey(terminal, id, { ...options, listedBy: `${nameOf(keys)} list` }),
  );
}

/** Returns the command as typed: `dropcast sandbox keys`. */
function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}
