import type { Context } from 'hono';
import { counted, emptyState, pagination, select, type Html } from '@dropcast/pages';
import { html } from 'hono/html';
import { z } from 'zod';
import { query } from '../../http/input.ts';
import type { Services } from '../../services.ts';
import { type View, optionalChoice, optionalText, page, PER_PAGE } from '../layout.ts';
import { uploadCommand, videoTable } from '../video-table.ts';
import { channelNames } from './channels.ts';
import { newVideoCard } from './makers.ts';

/** View of all videos, newest first. @throws ApiError 422 for a query that the page's own forms cannot produce */
export function videos({ records, links }: Pick<Services, 'records' | 'links'>): (context: Context) => View {
  return (context) => {
    const { channel, status, page } = query(context.req.raw, asked);
    const found = records.videos.page({ channelId: channel, status }, page, PER_PAGE);
    const names = channelNames(records.channels);
    const label = counted(found.total, 'video');
    return {
      title: 'Videos',
      section: '/_page/videos',
      changesWith: [
        'video.created',
        'video.updated',
        'video.processing',
        'video.ready',
        'video.failed',
        'video.deleted',
        'channel.updated',
      ],
      aside: html`<span class="muted">${label}</span>`,
      body: html`${filterForm({ channel, status }, names)}
        <section class="card" id="videos">
          ${
            found.videos.length === 0
              ? emptyState(...nothingFound({ channel, status, page }, links))
              : videoTable({ label, videos: found.videos, links, channelNames: names })
          }
          ${pagination({ page, perPage: PER_PAGE, total: found.total, filter: { channel, status } })}
        </section>
        ${newVideoCard(names)}`,
    };
  };
}

const STATUSES = ['pending', 'processing', 'ready', 'failed'] as const;

const asked = z.strictObject({ channel: optionalText, status: optionalChoice(STATUSES), page });

type Asked = Partial<z.output<typeof asked>>;

function filterForm({ channel, status }: Asked, names: ReadonlyMap<string, string>): Html {
  const channels = [...names].map(([value, label]) => ({ value, label }));
  const statuses = STATUSES.map((value) => ({ value, label: value }));
  return html`<form method="get" class="row" id="filter">
    ${select('channel', 'Channel', channel, [{ value: '', label: 'All channels' }, ...channels])}
    ${select('status', 'Status', status, [{ value: '', label: 'Every status' }, ...statuses])}
    <button>Show</button>
  </form>`;
}

function nothingFound(
  { channel, status, page = 1 }: Asked,
  links: Services['links'],
): [text: string, command?: string] {
  if (page > 1) return ['There is no such page.'];
  if (channel !== undefined || status !== undefined) return ['No video matches. Choose another channel or status.'];
  return ['No videos yet. Upload one:', uploadCommand(links)];
}
