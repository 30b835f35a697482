import { html } from 'hono/html';
import { named, table, time, type Column, type Html, badge, type BadgeKind } from '@dropcast/pages';
import type { Links } from '../http/links.ts';
import type { Video, VideoStatus } from '../store/videos.ts';

/**
 * Reduces an address to its path, so that it loads from the host name that opened the page: the page may load nothing
 * from other origins.
 */
export function localPath(url: string): string {
  return new URL(url).pathname;
}

export function thumbnail({ id, status }: Pick<Video, 'id' | 'status'>, links: Links): Html {
  if (status !== 'ready') return NO_THUMBNAIL;
  const source = localPath(links.thumbnail(id));
  return html`<img class="thumb" src="${source}" alt="" width="80" height="45" loading="lazy" decoding="async" />`;
}

const NO_THUMBNAIL = html`<span class="thumb none"
  ><svg viewBox="0 0 18 18" aria-hidden="true"><path d="M2 4h14v10H2zM7.5 6.8v4.4L11.3 9z" /></svg
></span>`;

export function videoPath(id: string): string {
  return `/_page/videos/${encodeURIComponent(id)}`;
}

export function videoLink({ id, title }: Pick<Video, 'id' | 'title'>): Html {
  return html`<a class="title" href="${videoPath(id)}">${named(title)}</a>`;
}

interface VideoTable {
  readonly label: string;
  readonly videos: readonly Video[];
  readonly links: Links;
  /** Channel names by channel id. */
  readonly channelNames: ReadonlyMap<string, string>;
}

export function videoTable({ label, videos, links, channelNames }: VideoTable): Html {
  const columns: Column<Video>[] = [
    { heading: 'Picture', kind: 'picture', cell: (video) => thumbnail(video, links) },
    {
      heading: 'Title',
      kind: 'main',
      cell: (video) => html`${videoLink(video)}<code class="under">${video.id}</code>`,
    },
    { heading: 'Channel', kind: 'minor', cell: ({ channelId }) => named(channelNames.get(channelId) ?? channelId) },
    { heading: 'Status', cell: (video) => status(video.status) },
    {
      heading: 'Length',
      kind: 'minor number',
      cell: ({ durationS }) => (durationS === null ? '–' : playingTime(durationS)),
    },
    { heading: 'Created', kind: 'minor', cell: ({ createdAtMs }) => time(createdAtMs) },
  ];
  return table({ label, columns, items: videos, keyOf: ({ id }) => id });
}

/** Returns a command that uploads a first video. No page shows the key itself. */
export function uploadCommand({ origin }: Pick<Links, 'origin'>): string {
  return `export DROPCAST_API_KEY=…   # as printed by the sandbox at its start
dropcast videos upload clip.mp4 --base-url ${origin}/v1`;
}

/** Badge with a video's status, as named in the API. */
export function status(word: VideoStatus): Html {
  return badge(KINDS[word], word);
}

const KINDS: Readonly<Record<VideoStatus, BadgeKind>> = {
  pending: 'waiting',
  processing: 'busy',
  ready: 'good',
  failed: 'bad',
};

/** Formats a duration, like `0:04` or `1:02:03`. @param seconds with fractions */
export function playingTime(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const [first = 0, ...rest] = parts[0] === 0 ? parts.slice(1) : parts;
  return [String(first), ...rest.map((part) => String(part).padStart(2, '0'))].join(':');
}
