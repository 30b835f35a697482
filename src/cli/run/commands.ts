import { Option } from 'commander';
import { duration } from '../argument-types.ts';
import { configOption } from '../registry.ts';
import type { CommandRow } from '../registry.ts';

/** The commands that upload. */
export const runCommands: readonly CommandRow[] = [
  {
    usage: 'run',
    does: 'run the daemon in the foreground',
    shared: [configOption],
    load: async () => (await import('./run.ts')).run,
  },
  {
    usage: 'once',
    does: 'process the files in the folders now, show progress, and exit',
    summary: 'process the files in the folders now, and exit',
    options: [
      new Option('--wait <time>', 'how long to wait for an unreachable service, like 30s or 1h')
        .argParser(duration)
        .default(120_000, '2m'),
    ],
    load: async () => (await import('./once.ts')).once,
  },
  {
    usage: 'demo',
    does: 'upload sample files to a local service; needs no account and no configuration',
    summary: 'upload sample files to a local service; needs no account',
    shared: [],
    options: [
      new Option('--keep', 'keep running afterwards'),
      new Option('--fleet', 'three members on one PostgreSQL, one of which is killed while it uploads'),
    ],
    load: async ({ samples }) => (await import('./demo.ts')).demo.bind(null, samples),
  },
];
