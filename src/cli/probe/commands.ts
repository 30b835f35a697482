import type { Command } from 'commander';
import { durationWithin } from '../argument-types.ts';
import { serviceCommand } from '../api/commands.ts';
import type { ServiceOptions } from '../api/commands.ts';
import type { Registry } from '../registry.ts';
import type { ProbeOptions } from './probe.ts';

/** Adds `dropcast probe`. */
export function addProbeCommand(program: Command, { shell, installed, exit }: Registry): void {
  serviceCommand(program, 'probe', {
    does: 'find out what the service does and which settings it needs: asks first, then sends one small video, waits until it is ready, and deletes it',
    example: 'probe --channel ch_news --timeout 10m',
    note: '\nIts requests count against the hourly limit of the key, and in the budget of a\nrunning daemon.',
  })
    .summary('find out which settings the service needs; asks first')
    .option('-y, --yes', 'do not ask')
    .option('--channel <id>', 'channel of the video (default: that of the first rule, else the only one)')
    .option(
      '--timeout <duration>',
      'how long the video may take to become ready (default: 5m)',
      durationWithin('1s', '1h'),
    )
    .option('--out <file>', 'write a recording for `dropcast sandbox compare`; must not exist')
    .option('--clean-up', 'only delete what an interrupted probe has left')
    .action(async (options: ServiceOptions & ProbeOptions) =>
      exit(await (await import('./probe.ts')).probe(shell, installed.samples, options)),
    );
}
