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
    .action(async (options: { keep?: boolean }) => {
      const { demo } = await import('./demo.ts');
      exit(await demo(shell, { ...options, samples }));
    });
}
