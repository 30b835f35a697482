import type { Context } from 'hono';
import { counted, facts, named, time, visibleLines, visibleText, type Html } from '@dropcast/pages';
import { html } from 'hono/html';
import { feedDocument } from '../../feeds/document.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Feed, FeedItem } from '../../store/feeds.ts';
import type { Services } from '../../services.ts';
import type { View } from '../layout.ts';
import { localPath, thumbnail, videoPath, playingTime } from '../video-table.ts';
import { FEED_TYPES, publishButton, publishedWhen } from './feeds.ts';

type FeedParts = Pick<Services, 'records' | 'links'>;

/** View of one feed: its items and its document. @throws ApiError 404 */
export function feed(parts: FeedParts): (context: Context) => View {
  return (context) => {
    const found = parts.records.feeds.find(context.req.param('id') ?? '');
    if (!found) throw new ApiError('not_found', 'There is no such feed.');
    const { body } = feedDocument(parts, found);
    return {
      title: `Feed ${visibleText(found.name)}`,
      heading: named(found.name),
      section: '/_page/feeds',
      changesWith: ['feed.published', 'video.deleted', 'channel.updated'],
      aside: publishButton(found),
      body: html`<div class="split">${items(found, parts)} ${about(found, parts)}</div>
        ${source(body)}`,
    };
  };
}

function about(found: Feed, { records, links }: FeedParts): Html {
  const url = links.feed(found.id, found.type);
  return html`<section class="card" id="about">
    <div class="head">
      <h2>Fields</h2>
      <a href="${localPath(url)}">Open the document</a>
    </div>
    <div class="body">
      ${facts([
        ['id', html`<code>${found.id}</code>`],
        ['Type', FEED_TYPES[found.type]],
        ['Channel', named(records.channels.find(found.channelId)?.name ?? found.channelId)],
        ['Published', publishedWhen(found)],
        ['Videos', String(records.feeds.count(found.id))],
        ['Address', html`<code>${url}</code>`],
      ])}
    </div>
  </section>`;
}

function items(found: Feed, parts: FeedParts): Html {
  const count = parts.records.feeds.count(found.id);
  const shown = parts.records.feeds.items(found.id, { limit: MOST_SHOWN, offset: 0 });
  return html`<section class="card" id="items">
    <div class="head">
      <h2>Items</h2>
      <span class="muted">${counted(count, 'item')}</span>
    </div>
    ${count === 0 ? html`<div class="empty"><p>${emptyNote(found)}</p></div>` : ''}
    <ul class="reader">
      ${shown.map((item) => feedItem(item, parts))}
    </ul>
    ${count > shown.length ? html`<div class="body muted">And ${counted(count - shown.length, 'item')} more.</div>` : ''}
  </section>`;
}

const MOST_SHOWN = 25;

function emptyNote({ publication }: Feed): string {
  return publication
    ? 'The channel has no ready video that readers of this feed can play.'
    : 'Nothing yet: the feed shows the ready videos of its channel as they are when it is published.';
}

function feedItem({ videoId, title, createdAtMs, media }: FeedItem, { links }: FeedParts): Html {
  const length = media.durationS === null ? '' : ` · ${playingTime(media.durationS)}`;
  return html`<li data-key="${videoId}">
    ${thumbnail({ id: videoId, status: 'ready' }, links)}
    <div>
      <a class="title" href="${videoPath(videoId)}">${named(title)}</a>
      <span class="under">${time(createdAtMs)} · ${media.mediaType}${length}</span>
    </div>
  </li>`;
}

function source(body: string): Html {
  const excerpt = body.slice(0, EXCERPT);
  return html`<section class="card" id="source">
    <div class="head">
      <h2>Document</h2>
      <span class="muted"
        >${excerpt.length < body.length ? `the first ${EXCERPT} of ${body.length} characters` : ''}</span
      >
    </div>
    <div class="body">
      <pre class="source" tabindex="0" role="region" aria-label="Document">${visibleLines(excerpt)}</pre>
    </div>
  </section>`;
}

const EXCERPT = 6000;
