import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { collect, wholeNumber } from '@dropcast/sandbox/commands/argument-types';
import type { RecordingTerminal, RecordOptions } from './record.ts';

/**
 * Adds the commands `record`, `compare` and `replay`.
 *
 * @param sandbox the command that runs the sandbox
 * @param exit called with the exit code of the command
 */
export function addRecordCommands(sandbox: Command, terminal: RecordingTerminal, exit: (code: number) => void): void {
  const port = (command: Command): Command =>
    command.option('--port <number>', 'port to listen on, 0 for any free port', wholeNumber(0, 65_535), 8788);
  port(sandbox.command('record'))
    .description(
      'record the traffic between a program and a real service, without keys and signed addresses; at the end, compare the service with openapi.yaml',
    )
    .summary('record a program and a service, and compare')
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
    .option('--ca <file>', 'additional certificate (PEM) to trust')
    .addHelpText(
      'after',
      '\nExample:\n  $ dropcast sandbox record --to https://video.example.com/v1 --out today.ndjson',
    )
    .action(async (options: RecordOptions) => {
      exit(await (await import('./record.ts')).record(terminal, options));
    });
  sandbox
    .command('compare <recording>')
    .description(
      'compare a recorded service with openapi.yaml, point by point; exit code 1 if it is not as the specification says or openapi.yaml assumes',
    )
    .summary('compare a recorded service with openapi.yaml')
    .option('--json', 'print JSON, {"v":1,…}')
    .action(async (file: string, options: { json?: boolean }) => {
      exit(await (await import('./record.ts')).compareRecording(terminal, file, options));
    });
  port(sandbox.command('replay <recording>'))
    .description('answer a program from a recording, without the service; exit code 1 if it asked for something else')
    .summary('answer a program from a recording')
    .option('--strict', 'answer each request only as often as it was recorded')
    .action(async (file: string, options: { port: number; strict?: boolean }) => {
      exit(await (await import('./record.ts')).replay(terminal, file, options));
    });
}

/** Appends an origin to the earlier ones. @throws {InvalidArgumentError} for anything other than an origin */
function collectOrigins(value: string, before: readonly string[] = []): readonly string[] {
  const url = URL.parse(value);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.origin !== value.replace(/\/$/, ''))
    throw new InvalidArgumentError('Write an origin like https://uploads.example.com, without a path.');
  return [...before, url.origin];
}
