import type { Command } from 'commander';
import type { Shell } from '../shell.ts';

/** Adds the `dropcast notify …` commands for notification targets. */
export function addNotifyCommands(program: Command, shell: Shell, exit: (code: number) => void): void {
  const notify = program.command('notify').description('test the notification targets');
  notify
    .command('test [target]')
    .description(
      'send a test message to every notify target, or to the one with this name, and print what each answers',
    )
    .summary('send a test message to every target')
    .option('-c, --config <path>', 'configuration file')
    .option('--json', 'print JSON, {"v":1,…}')
    .action(async (target: string | undefined, options: { config?: string; json?: boolean }) =>
      exit(await (await import('./test.ts')).notifyTest(shell, target ?? null, options)),
    );
}
