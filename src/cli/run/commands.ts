import { type Command, Option } from 'commander';
import { duration } from '../argument-types.ts';
import { type Registry, type Shared, json } from '../registry.ts';

/** Adds the commands that upload. */
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

/** @param samples folder of the media to upload */
export function addDemoCommand(
  program: Command,
  { shell, exit }: Pick<Registry, 'shell' | 'exit'>,
  samples: string,
): void {
  program
    .command('demo')
    .description('upload sample files to a local service; needs no account and no configuration')
    .summary('upload sample files to a local service; needs no account')
    .option('--keep', 'keep running afterwards')
    .option('--fleet', 'three members on one PostgreSQL, one of which is killed while it uploads')
    .action(async (options: { keep?: boolean; fleet?: boolean }) => {
      if (options.fleet === true)
        return exit(await (await import('../../fleet/demo/fleet-demo.ts')).fleetDemo(shell, samples));
      const { demo } = await import('./demo.ts');
      exit(await demo(shell, { ...options, samples }));
    });
}
