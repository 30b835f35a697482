import type { Command } from 'commander';
import { channelChanges, listChannels, updateChannel } from './channels.ts';
import type { UpdateChannelOptions } from './channels.ts';
import type { Registry, Shared } from './registry.ts';

export function addChannelCommands(channels: Command, { shell, command, run }: Registry): void {
  command(channels, 'list', { does: 'list the channels of the account', example: 'channels list' }).action(
    (options: Shared) => run(options, (session) => listChannels(session, options)),
  );
  command(channels, 'update <id>', {
    does: 'change name, description or player settings',
    example: `channels update ch_news --name News --player-settings '{"autoplay":true}'`,
  })
    .option('--name <text>', 'new name')
    .option('--description <text>', 'new description')
    .option('--player-settings <json>', 'default player settings in place of all it has: JSON, or @FILE')
    .action(async (id: string, options: Shared & UpdateChannelOptions) => {
      const changes = await channelChanges(shell, options);
      await run(options, (session) => updateChannel(session, id, { changes, json: options.json }));
    });
}
