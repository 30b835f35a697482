import type { Context } from 'hono';
import { counted, facts, named, visibleLines, visibleText, type Html } from '@dropcast/pages';
import { playingTime } from '../playing-time.ts';
import { html } from 'hono/html';
import { feedDocument } from '../../feeds/document.ts';
import type { Finding } from '../../feeds/rules/finding.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Feed } from '../../store/feeds.ts';
import type { Services } from '../../services.ts';
import { previewOf, type PreviewItem } from '../feed-preview.ts';
import type { View } from '../layout.ts';
import { localPath, videoPath } from '../video-table.ts';
import { FEED_TYPES, publishButton, publishedWhen, verdictBadge, verdictOn } from './feeds.ts';

type FeedParts = Pick<Services, 'records' | 'links'>;

/** View of one feed: its items as a reader shows them, its document and its verdict. @throws ApiError 404 */
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
      body: html`${about(found, parts)}
        <div class="split">
          ${preview(found, previewOf(body, found.type), parts)} ${verdict(verdictOn(found, parts, body))}
        </div>
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

function verdict(findings: readonly Finding[]): Html {
  return html`<section class="card" id="verdict">
    <div class="head">
      <h2>Verdict</h2>
      ${verdictBadge(findings)}
    </div>
    <div class="body">
      ${
        findings.length === 0
          ? html`<p class="muted">The document follows every rule of its type that the sandbox checks.</p>`
          : html`<ul class="findings">
              ${findings.slice(0, MOST_FINDINGS).map(finding)}
            </ul>`
      }
      ${findings.length > MOST_FINDINGS ? html`<p class="muted">And ${findings.length - MOST_FINDINGS} more.</p>` : ''}
    </div>
  </section>`;
}

const MOST_FINDINGS = 50;

function finding({ rule, message, item }: Finding): Html {
  return html`<li>
    <code>${rule}</code>
    ${named(message)}${item === undefined ? '' : html` <span class="muted">in ${named(item)}</span>`}
  </li>`;
}

function preview(found: Feed, items: readonly PreviewItem[], { records }: FeedParts): Html {
  const more = records.feeds.count(found.id) - Math.min(items.length, MOST_SHOWN);
  return html`<section class="card" id="preview">
    <div class="head">
      <h2>As a reader shows it</h2>
      <span class="muted">${counted(items.length, 'item')}</span>
    </div>
    ${items.length === 0 ? html`<div class="empty"><p>${emptyNote(found)}</p></div>` : ''}
    <ul class="reader">
      ${items.slice(0, MOST_SHOWN).map(readerItem)}
    </ul>
    ${more > 0 && items.length > 0 ? html`<div class="body muted">And ${counted(more, 'item')} more.</div>` : ''}
  </section>`;
}

const MOST_SHOWN = 25;

function emptyNote({ publication }: Feed): string {
  return publication
    ? 'The channel has no ready video that readers of this feed can play.'
    : 'Nothing yet: the feed shows the ready videos of its channel as they are when it is published.';
}

function readerItem({ id, title, picture, published, seconds, media }: PreviewItem): Html {
  const length = seconds === null ? '' : ` · ${playingTime(seconds)}`;
  return html`<li data-key="${id}">
    ${picture === null ? '' : html`<img class="thumb" src="${localPath(picture)}" alt="" width="80" height="45" loading="lazy" />`}
    <div>
      <a class="title" href="${videoPath(id)}">${named(title)}</a>
      <span class="under">${published} · ${media}${length}</span>
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
