import type { Command } from 'commander';
import { analyticsOverview, videoAnalytics } from './analytics.ts';
import type { AnalyticsOptions } from './analytics.ts';
import { parseDay } from './period.ts';
import type { Registry, Shared } from './registry.ts';

export function addAnalyticsCommands(analytics: Command, { command, run }: Registry): void {
  const video = command(analytics, 'video <id>', {
    does: 'show how one video was watched',
    example: 'analytics video vid_4f9x --from 7d',
  });
  withPeriod(video).action((id: string, options: Shared & AnalyticsOptions) =>
    run(options, (session) => videoAnalytics(session, id, options)),
  );
  const overview = command(analytics, 'overview', {
    does: 'show how the whole account, or one channel, was watched',
    example: 'analytics overview --channel ch_news --from 2026-03-01 --to 2026-03-31',
  });
  withPeriod(overview.option('--channel <id>', 'only the videos of this channel')).action(
    (options: Shared & AnalyticsOptions & { channel?: string }) =>
      run(options, (session) => analyticsOverview(session, options)),
  );
}

function withPeriod(command: Command): Command {
  const day = (text: string): string => parseDay(text, Date.now());
  return command
    .option('--from <day>', 'first day (UTC): YYYY-MM-DD, or 7d for the last seven days', day)
    .option('--to <day>', 'last day, included: YYYY-MM-DD, or 1d for today (default with --from: today)', day);
}
