import { Option } from 'commander';
import type { CommandRow } from '../registry.ts';

/** The commands that check, preview and apply a configuration. */
export const configCommands: readonly CommandRow[] = [
  {
    usage: 'check',
    does: 'report every problem with the configuration, folders, state and key',
    summary: 'report problems with configuration, folders, state, key',
    options: [new Option('--online', 'also check key, channels and feeds with the service')],
    load: async () => (await import('./check.ts')).check,
  },
  {
    usage: 'explain <path>',
    does: 'show which rule matches a path, what would be sent, and the state of the file',
    summary: 'show which rule matches a file, and its state',
    examples: ['explain /srv/video/inbox/evening.mp4'],
    load: async () => (await import('./explain.ts')).explain,
  },
  {
    usage: 'plan [path]',
    does: 'show what would happen to the files in the folders: how many, how large, duplicates, held files, requests, and when everything would be done; sends and writes nothing',
    summary: 'show what would be uploaded; sends nothing',
    options: [new Option('--no-hash', 'do not read files of the same size to find duplicates')],
    load: async () => (await import('./plan.ts')).plan,
  },
  {
    usage: 'reload',
    does: 'make the daemon read its configuration again, and report the result',
    summary: 'make the daemon read its configuration again',
    options: [
      new Option(
        '--plan',
        'only show what would change: folders, waiting files, and what new rules would cost for finished ones',
      ),
    ],
    load: async () => (await import('./reload.ts')).reload,
  },
];
