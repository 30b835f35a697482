import type { Command } from 'commander';
import { listFeeds, publishFeed } from './feeds.ts';
import type { Registry, Shared } from './registry.ts';

export function addFeedCommands(feeds: Command, { command, run }: Registry): void {
  command(feeds, 'list', { does: 'list the feeds of the account', example: 'feeds list' }).action((options: Shared) =>
    run(options, (session) => listFeeds(session, options)),
  );
  command(feeds, 'publish <id>', {
    does: 'publish a feed now, with the latest videos',
    example: 'feeds publish feed_news',
  }).action((id: string, options: Shared) => run(options, (session) => publishFeed(session, id, options)));
}
