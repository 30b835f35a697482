import type { Context } from 'hono';
import {
  confirmed,
  counted,
  facts,
  fileSize,
  named,
  percent,
  span,
  timeline,
  visibleLines,
  visibleText,
  type Html,
} from '@dropcast/pages';
import { FAILURE } from '../actions.ts';
import { html } from 'hono/html';
import { dayCount, periodOf } from '../../analytics/period.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Video, VideoMedia } from '../../store/videos.ts';
import type { Services } from '../../services.ts';
import type { View } from '../layout.ts';
import { newPlaysForm } from './makers.ts';
import { localPath, thumbnail, videoPath, status, playingTime } from '../video-table.ts';
import { stepsOf } from '../video-history.ts';
import { feedPath } from './feeds.ts';
import { dailyChart } from './analytics.ts';

type VideoParts = Pick<Services, 'records' | 'clock' | 'links'>;

/** View of one video with all its facts. @throws ApiError 404 */
export function video(parts: VideoParts): (context: Context) => View {
  return (context) => {
    const found = parts.records.videos.find(context.req.param('id') ?? '');
    if (!found) throw new ApiError('not_found', 'There is no such video. It may have been deleted.');
    return {
      title: visibleText(found.title),
      heading: named(found.title),
      section: '/_page/videos',
      changesWith: [
        'video.updated',
        'video.processing',
        'video.ready',
        'video.failed',
        'video.deleted',
        'video.played',
        'feed.published',
        'channel.updated',
      ],
      aside: actions(found),
      body: html`<section class="card" id="history">
          <div class="head">
            <h2>Status</h2>
            ${status(found.status)}
          </div>
          <div class="body">${timeline(stepsOf(found, parts.clock.nowMs()))}</div>
        </section>
        <div class="split">
          <div class="stack">${player(found, parts)} ${plays(found, parts)}</div>
          <div class="stack">${details(found, parts)} ${mediaFacts(found.media)}</div>
        </div>`,
    };
  };
}

function actions({ id, status: word }: Video): Html {
  const path = videoPath(id);
  const isUnderWay = word === 'pending' || word === 'processing';
  return html`<div class="row middle">
    ${isUnderWay ? failForm(path) : ''}
    ${confirmed(`${path}/delete`, {
      first: 'Delete…',
      question: 'Deletes it permanently, and removes it from every feed and embed at once.',
      second: 'Delete the video',
    })}
  </div>`;
}

function failForm(path: string): Html {
  return html`<details class="confirm">
    <summary>Make it fail…</summary>
    <form method="post" action="${path}/fail">
      <label
        >Code <input name="code" value="${FAILURE.code}" required maxlength="64" pattern="[a-z][a-z0-9_]*"
      /></label>
      <label>Message <input name="message" value="${FAILURE.message}" required maxlength="1000" size="32" /></label>
      <button class="danger">Make it fail</button>
    </form>
  </details>`;
}

function player({ id, status: word, failure, title }: Video, { links }: VideoParts): Html {
  return html`<section class="card" id="player">
    <div class="head">
      <h2>${word === 'ready' ? 'Player' : 'No player'}</h2>
      ${word === 'ready' ? html`<a href="${localPath(links.embed(id))}">Open the embed page</a>` : ''}
    </div>
    <div class="body">
      ${
        word === 'ready'
          ? html`<iframe
              class="player"
              src="${localPath(links.embed(id))}"
              title="Player of ${title}"
              loading="lazy"
              allow="fullscreen"
            ></iframe>`
          : html`<p class="muted">${noPlayerNote(word)}</p>`
      }
      ${
        failure
          ? facts([
              ['Code', html`<code>${failure.code}</code>`],
              ['Reason', named(failure.message)],
            ])
          : ''
      }
    </div>
  </section>`;
}

function noPlayerNote(word: Video['status']): string {
  if (word === 'failed') return 'Processing failed.';
  return word === 'pending' ? 'Waiting for its file.' : 'Still processing.';
}

function details(found: Video, { records, links }: VideoParts): Html {
  const { id, title, description, channelId, tags, sourceUrl } = found;
  const channel = records.channels.find(channelId);
  const feeds = records.feeds.with(id);
  return html`<section class="card" id="details">
    <div class="head"><h2>Fields</h2></div>
    <div class="body">
      ${facts([
        ['Thumbnail', thumbnail(found, links)],
        ['id', html`<code>${id}</code>`],
        ['Title', named(title)],
        ['Channel', html`<a href="/_page/videos?channel=${channelId}">${named(channel?.name ?? channelId)}</a>`],
        [
          'Tags',
          tags.length === 0
            ? '–'
            : html`<span class="chips">${tags.map((tag) => html`<span>${named(tag)}</span>`)}</span>`,
        ],
        [
          'Feeds',
          feeds.length === 0
            ? 'none'
            : html`${feeds.map((feed) => html`<a href="${feedPath(feed.id)}">${named(feed.name)}</a> `)}`,
        ],
        ['Requests', html`<a href="/_page/requests?video_id=${id}">about this video</a>`],
        ['Source', sourceUrl === null ? null : html`<code>${named(sourceUrl)}</code>`],
        ['Embed', html`<code>${links.embed(id)}</code>`],
      ])}
      ${description === null || description === '' ? '' : html`<div class="prose" tabindex="0" role="region" aria-label="Description">${prose(description)}</div>`}
    </div>
  </section>`;
}

function prose(text: string): Html {
  return html`<bdi>${visibleLines(text)}</bdi>`;
}

function mediaFacts(media: VideoMedia | null): Html | '' {
  if (!media) return '';
  const { width, height, frameRate, bitRate, durationS } = media;
  return html`<section class="card" id="media">
    <div class="head"><h2>Media</h2></div>
    <div class="body">
      ${facts([
        ['Length', durationS === null ? 'unknown' : `${playingTime(durationS)} (${durationS.toFixed(2)} s)`],
        ['Container', media.container],
        ['Type', html`<code>${media.mediaType}</code>`],
        [
          'Picture',
          width === null
            ? 'none'
            : `${width} × ${height}${frameRate === null ? '' : `, ${Number(frameRate.toFixed(2))} fps`}`,
        ],
        ['Video codec', media.videoCodec],
        ['Audio codec', media.audioCodec],
        ['Bit rate', bitRate === null ? null : `${Math.round(bitRate / 1000)} kbit/s`],
        ['Size', fileSize(media.sizeBytes)],
        ['SHA-256', html`<code>${media.sha256}</code>`],
      ])}
    </div>
  </section>`;
}

function plays({ id, durationS }: Video, { records, clock }: VideoParts): Html {
  const period = periodOf({}, clock.nowMs());
  const statistics = records.statistics.ofVideo(id, period);
  const { views, uniqueViewers, averageWatchS, completionRate } = statistics;
  return html`<section class="card" id="plays">
    <div class="head">
      <h2>Plays of the last ${dayCount(period)} days</h2>
      <span class="muted">${counted(views, 'view')} by ${counted(uniqueViewers, 'viewer')}</span>
    </div>
    <div class="body">
      ${
        views === 0
          ? html`<p class="muted">No views yet${durationS === null ? '' : '; a play on the embed page counts'}.</p>`
          : html`${dailyChart(records.statistics.dailyViews({ videoId: id }, period), 'Plays per day')}
            ${facts([
              ['Average watch time', span(averageWatchS * 1000)],
              ['Watched to the end', percent(completionRate)],
            ])}`
      }
      ${newPlaysForm(videoPath(id))}
    </div>
  </section>`;
}
