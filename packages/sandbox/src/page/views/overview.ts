import { html } from 'hono/html';
import { badge, emptyState, grouped, time, type Html } from '@dropcast/pages';
import { periodOf } from '../../analytics/period.ts';
import type { EventType } from '../../events.ts';
import { isOfApi } from '../../http/operations.ts';
import type { VideoStatus } from '../../store/videos.ts';
import type { Services } from '../../services.ts';
import { faultSummary } from './faults.ts';
import type { View } from '../layout.ts';
import { requestTable } from './requests.ts';
import { seedForm } from './controls.ts';
import { uploadCommand, videoTable, status } from '../video-table.ts';
import { channelNames } from './channels.ts';
import { keyUsage } from './keys.ts';
import { dailyChart } from './analytics.ts';

type OverviewParts = Pick<Services, 'records' | 'clock' | 'links' | 'requestWindow' | 'faults' | 'journal'>;

/** View of the sandbox's state at a glance. */
export function overview(parts: OverviewParts): () => View {
  return () => ({
    title: 'Overview',
    section: '/',
    changesWith: EVERYTHING,
    body: html`${tiles(parts)} ${latestVideos(parts)}
      <div class="split">
        ${views(parts)}
        <div class="stack">${now(parts)} ${activeFaults(parts)}</div>
      </div>
      ${latestRequests(parts)}`,
  });
}

const EVERYTHING: readonly EventType[] = [
  'video.created',
  'video.updated',
  'video.processing',
  'video.ready',
  'video.failed',
  'video.deleted',
  'video.played',
  'channel.updated',
  'key.changed',
  'request',
];

const STATUSES: readonly VideoStatus[] = ['ready', 'processing', 'pending', 'failed'];

function tiles({ records: { videos } }: OverviewParts): Html {
  const tile = (count: number, name: Html | string, query: string) =>
    html`<li>
      <a href="/_page/videos${query}"><strong>${grouped(count)}</strong> <span class="name">${name}</span></a>
    </li>`;
  return html`<ul class="tiles" id="counts" aria-label="Videos by status">
    ${tile(videos.count({}), 'videos', '')}
    ${STATUSES.map((word) => tile(videos.count({ status: word }), status(word), `?status=${word}`))}
  </ul>`;
}

function latestVideos({ records, links }: OverviewParts): Html {
  const { videos } = records.videos.page({}, 1, 6);
  const names = channelNames(records.channels);
  return html`<section class="card" id="latest">
    <div class="head">
      <h2>Latest videos</h2>
      <a href="/_page/videos">All videos</a>
    </div>
    ${videos.length === 0 ? firstSteps(links) : videoTable({ label: 'Latest videos', videos, links, channelNames: names })}
  </section>`;
}

function firstSteps(links: OverviewParts['links']): Html {
  return html`${emptyState('No videos yet. Upload one, or add samples.', uploadCommand(links))}
    <div class="body">${seedForm()}</div>`;
}

function views({ records, clock }: OverviewParts): Html {
  const days = records.statistics.dailyViews({}, periodOf({}, clock.nowMs()));
  return html`<section class="card" id="views">
    <div class="head">
      <h2>Views of the last 30 days</h2>
      <a href="/_page/analytics">Analytics</a>
    </div>
    <div class="body">${dailyChart(days, 'Views per day')}</div>
  </section>`;
}

function now(parts: OverviewParts): Html {
  const { clock, requestWindow } = parts;
  return html`<section class="card" id="now">
    <div class="head">
      <h2>Clock and limit</h2>
      <a href="/_page/controls">Controls</a>
    </div>
    <div class="body">
      <div class="row middle">
        ${time(clock.nowMs())} ${clock.isFrozen ? badge('notice', 'stopped') : badge('good', 'running')}
      </div>
      <p class="muted">${grouped(requestWindow.limit)} requests per hour and key</p>
      ${keyUsage(parts)}
    </div>
  </section>`;
}

function activeFaults({ faults, clock }: OverviewParts): Html {
  const active = faults.list();
  return html`<section class="card" id="faults">
    <div class="head">
      <h2>Faults</h2>
      <a href="/_page/faults">${active.length === 0 ? 'Add some' : 'Change'}</a>
    </div>
    <div class="body">
      ${
        active.length === 0
          ? html`<p class="muted">None.</p>`
          : html`<ul class="findings">
              ${active.map((fault) => html`<li data-key="${fault.id}">${faultSummary(fault, clock.nowMs())}</li>`)}
            </ul>`
      }
    </div>
  </section>`;
}

function latestRequests({ journal, links }: OverviewParts): Html {
  const entries = journal
    .entries()
    .filter(({ operation }) => isOfApi(operation))
    .slice(-6)
    .toReversed();
  return html`<section class="card" id="requests">
    <div class="head">
      <h2>Latest requests</h2>
      <a href="/_page/requests">All requests</a>
    </div>
    ${
      entries.length === 0
        ? emptyState('No requests yet.', `curl ${links.origin}/v1/videos -H "Authorization: Bearer $DROPCAST_API_KEY"`)
        : requestTable('Latest requests', entries)
    }
  </section>`;
}
