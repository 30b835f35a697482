import { html } from 'hono/html';
import { emptyState, grouped, named, table, time, visibleText } from '@dropcast/pages';
import type { ChannelStore } from '../../store/channels.ts';
import type { Services } from '../../services.ts';
import type { View } from '../layout.ts';
import { localPath } from '../video-table.ts';
import { newChannelCard, removeChannelButton } from './makers.ts';

export function channels({ records, links }: Pick<Services, 'records' | 'links'>): () => View {
  return () => {
    const list = records.channels.list();
    return {
      title: 'Channels',
      section: '/_page/channels',
      changesWith: ['channel.updated', 'video.created', 'video.deleted'],
      body: html`${newChannelCard()}
        <section class="card" id="channels">
          ${list.length === 0 ? emptyState('The account has no channels, because it was created without the demo data.') : ''}
          ${
            list.length > 0
              ? table({
                  label: 'Channels',
                  items: list,
                  keyOf: ({ id }) => id,
                  columns: [
                    {
                      heading: 'Artwork',
                      kind: 'picture',
                      cell: ({ id }) =>
                        html`<img
                          class="thumb"
                          src="${localPath(links.artwork(id))}"
                          alt=""
                          width="45"
                          height="45"
                          loading="lazy"
                        />`,
                    },
                    {
                      heading: 'Name',
                      kind: 'main',
                      cell: ({ id, name, description }) =>
                        html`<span class="title">${named(name)}</span
                          ><code class="under">${id}</code
                          >${description ? html`<span class="under title">${named(description)}</span>` : ''}`,
                    },
                    { heading: 'Slug', kind: 'minor', cell: ({ slug }) => html`<code>${slug}</code>` },
                    {
                      heading: 'Player settings',
                      kind: 'minor',
                      cell: ({ defaultPlayerSettings: settings }) =>
                        Object.keys(settings).length === 0
                          ? 'as usual'
                          : html`<code>${visibleText(JSON.stringify(settings).slice(0, 300))}</code>`,
                    },
                    { heading: 'Created', kind: 'minor', cell: ({ createdAtMs }) => time(createdAtMs) },
                    {
                      heading: 'Videos',
                      kind: 'number',
                      cell: ({ id, videoCount }) =>
                        html`<a href="/_page/videos?channel=${id}">${grouped(videoCount)}</a>`,
                    },
                    { heading: 'Remove', kind: 'minor', cell: ({ id }) => removeChannelButton(id) },
                  ],
                })
              : ''
          }
        </section>`,
    };
  };
}

/** Returns the channels' names by id, in list order. */
export function channelNames(store: ChannelStore): ReadonlyMap<string, string> {
  return new Map(store.list().map(({ id, name }) => [id, name] as const));
}
