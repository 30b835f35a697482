import { Option } from 'commander';
import { duration } from '../argument-types.ts';
import { json } from '../registry.ts';
import type { Registry, Shared } from '../registry.ts';

/** Uploading itself. */
export function addRunCommands({ shell, command, exit }: Registry): void {
  command('run', 'run the daemon in the foreground').action(async (options: Shared) =>
    (await import('./run.ts')).run(shell, options),
  );
  json(command('once', 'process the files in the folders now, show progress, and exit'))
    .summary('process the files in the folders now, and exit')
    .addOption(
      new Option('--wait <time>', 'how long to wait for an unreachable service, like 30s or 1h')
        .argParser(duration)
        .default(120_000, '2m'),
    )
    .action(async (options: Shared & { wait: number }) => exit(await (await import('./once.ts')).once(shell, options)));
}
