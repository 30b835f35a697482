import type { Command } from 'commander';
import type { Shell } from '../shell.ts';
import { wholeNumber } from '../argument-types.ts';
import type { AnalyticsListOptions, AnalyticsOptions } from './analytics.ts';
import type { UpdateChannelOptions } from './channels.ts';
import { parseDay } from './period.ts';
import { command } from './registry.ts';
import type { Registry, Shared } from './registry.ts';
import { addVideoCommands } from './video-commands.ts';

/**
 * Adds `dropcast videos|channels|feeds|analytics …`: the whole API from the shell (design section 2). Each command
 * loads its code and the client when it runs.
 */
export function addApiCommands(program: Command, shell: Shell, exit: (code: number) => void): void {
  const registry: Registry = {
    shell,
    command,
    run: async (options, work) => exit(await (await import('./session.ts')).inSession(shell, options, work)),
  };
  const group = (name: string, description: string): Command => program.command(name).description(description);
  addVideoCommands(group('videos', 'list, get, create, import, upload, update, delete videos'), registry);
  addChannelCommands(group('channels', 'list and update channels'), registry);
  addFeedCommands(group('feeds', 'list and publish feeds'), registry);
  addAnalyticsCommands(group('analytics', 'show views and watch time'), registry);
}

function addChannelCommands(channels: Command, { shell, command, run }: Registry): void {
  command(channels, 'list', { does: 'list the channels of the account', example: 'channels list' }).action(
    (options: Shared) =>
      run(options, async (session) => (await import('./channels.ts')).listChannels(session, options)),
  );
  command(channels, 'update <id>', {
    does: 'change the name, description or player settings of a channel',
    example: `channels update ch_news --name News --player-settings '{"autoplay":true}'`,
  })
    .option('--name <text>', 'new name')
    .option('--description <text>', 'new description')
    .option('--player-settings <json>', 'new default player settings, as JSON or @FILE; replaces all of them')
    .action(async (id: string, options: Shared & UpdateChannelOptions) => {
      const { channelChanges, updateChannel } = await import('./channels.ts');
      const changes = await channelChanges(shell, options);
      await run(options, (session) => updateChannel(session, id, { changes, json: options.json }));
    });
}

function addFeedCommands(feeds: Command, { command, run }: Registry): void {
  command(feeds, 'list', { does: 'list the feeds of the account', example: 'feeds list' }).action((options: Shared) =>
    run(options, async (session) => (await import('./feeds.ts')).listFeeds(session, options)),
  );
  command(feeds, 'publish <id>', {
    does: 'publish a feed now, with the latest videos',
    example: 'feeds publish feed_news',
  }).action((id: string, options: Shared) =>
    run(options, async (session) => (await import('./feeds.ts')).publishFeed(session, id, options)),
  );
}

function addAnalyticsCommands(analytics: Command, { command, run }: Registry): void {
  const video = command(analytics, 'video <id>', {
    does: 'show views and watch time of one video',
    example: 'analytics video vid_4f9x --from 7d',
  });
  withPeriod(video).action((id: string, options: Shared & AnalyticsOptions) =>
    run(options, async (session) => (await import('./analytics.ts')).videoAnalytics(session, id, options)),
  );
  const videos = command(analytics, 'videos', {
    does: 'show views and watch time of each video, of the account or of one channel',
    example: 'analytics videos --channel ch_news --from 30d',
  })
    .option('--channel <id>', 'only videos of this channel')
    .option('-n, --limit <number>', 'list at most this many', wholeNumber(1, 1_000_000), 100);
  withPeriod(videos).action((options: Shared & AnalyticsListOptions) =>
    run(options, async (session) => (await import('./analytics.ts')).analyticsOfVideos(session, options)),
  );
  const overview = command(analytics, 'overview', {
    does: 'show the views of the account or of one channel',
    example: 'analytics overview --channel ch_news --from 2026-03-01 --to 2026-03-31',
  });
  withPeriod(overview.option('--channel <id>', 'only videos of this channel')).action(
    (options: Shared & AnalyticsOptions & { channel?: string }) =>
      run(options, async (session) => (await import('./analytics.ts')).analyticsOverview(session, options)),
  );
}

function withPeriod(command: Command): Command {
  const day = (text: string): string => parseDay(text, Date.now());
  return command
    .option('--from <day>', 'first day (UTC): YYYY-MM-DD, or 7d for the last seven days', day)
    .option('--to <day>', 'last day (UTC, inclusive): YYYY-MM-DD, or 1d for today (default with --from: today)', day);
}
