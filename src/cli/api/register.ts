import type { Command } from 'commander';
import type { Shell } from '../shell.ts';
import { addAnalyticsCommands } from './analytics-commands.ts';
import { addChannelCommands } from './channel-commands.ts';
import { addFeedCommands } from './feed-commands.ts';
import { command } from './registry.ts';
import type { Registry } from './registry.ts';
import { addVideoCommands } from './video-commands.ts';

/** `dropcast videos|channels|feeds|analytics …`: the whole API from the shell (design section 2). */
export function addApiCommands(program: Command, shell: Shell, exit: (code: number) => void): void {
  const registry: Registry = {
    shell,
    command,
    run: async (options, work) => exit(await (await import('./session.ts')).inSession(shell, options, work)),
  };
  const group = (name: string, description: string): Command => program.command(name).description(description);
  addVideoCommands(group('videos', 'list, read, create, import, upload, change or delete videos'), registry);
  addChannelCommands(group('channels', 'list and change channels'), registry);
  addFeedCommands(group('feeds', 'list and publish feeds'), registry);
  addAnalyticsCommands(group('analytics', 'show how videos were watched'), registry);
}
