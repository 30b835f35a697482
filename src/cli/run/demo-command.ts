import type { Command } from 'commander';
import type { Registry } from '../registry.ts';

/** @param samples the folder of the media that it uploads */
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
