import { printJson } from '../output/json.ts';
import { formatCount, formatMoment, UNKNOWN } from '../output/format.ts';
import { renderTable } from '../output/table.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { tableOptions } from '../output/file-table.ts';
import type { Shell } from '../shell.ts';
import type { Feed, Published } from '@dropcast/client';
import { feedForm } from './json-forms.ts';
import type { Session } from './session.ts';

/** `dropcast feeds list`: lists the account's feeds. */
export async function listFeeds({ shell, client }: Session, options: { readonly json?: boolean }): Promise<void> {
  const feeds = await client.feeds.list({ signal: shell.stopping });
  if (options.json === true) printJson({ feeds: feeds.map(feedForm) }, shell.stdout);
  else if (feeds.length === 0) shell.stderr.write('The account has no feeds.\n');
  else shell.stdout.write(feedTable(feeds, shell));
}

/** `dropcast feeds publish ID`: publishes a feed now, with the latest videos. */
export async function publishFeed(
  { shell, client }: Session,
  id: string,
  options: { readonly json?: boolean },
): Promise<void> {
  const published = await client.feeds.publish(id, { signal: shell.stopping });
  if (options.json === true) printJson(publishedForm(id, published), shell.stdout);
  else shell.stdout.write(publishedLine(id, published));
}

function feedTable(feeds: readonly Feed[], shell: Shell): string {
  const columns = [
    { title: 'ID' },
    { title: 'NAME', cut: 'end' as const },
    { title: 'TYPE' },
    { title: 'CHANNEL' },
    { title: 'PUBLISHED' },
    { title: 'ADDRESS', cut: 'middle' as const },
  ];
  const rows = feeds.map((feed) => [
    feed.id,
    feed.name || UNKNOWN,
    feed.type || UNKNOWN,
    feed.channelId || UNKNOWN,
    formatMoment(feed.lastPublishedAt, Date.now(), shell.stdout.isTTY),
    feed.url || UNKNOWN,
  ]);
  return renderTable(columns, rows, tableOptions(shell));
}

function publishedForm(id: string, { status, publishedAt, videoCount }: Published) {
  return { feed_id: id, status, published_at: publishedAt ?? null, video_count: videoCount ?? null };
}

/** Formats the result, such as `feed_news: published with 12 videos`. The status is the service's own word. */
function publishedLine(id: string, { status, videoCount }: Published): string {
  const count =
    videoCount === undefined ? '' : ` with ${formatCount(videoCount)} ${videoCount === 1 ? 'video' : 'videos'}`;
  return `${escapeControls(id)}: ${escapeControls(status)}${count}\n`;
}
