import type { Video } from '@dropcast/client';
import { hasColour } from '../../log/colour.ts';
import type { Style } from '../../log/colour.ts';
import { renderDetails } from '../output/details.ts';
import type { Detail } from '../output/details.ts';
import { formatDuration, formatMoment, UNKNOWN } from '../output/format.ts';
import { renderTable } from '../output/table.ts';
import { tableOptions } from '../output/file-table.ts';
import type { Shell } from '../shell.ts';

type Screen = Pick<Shell, 'stdout' | 'env'>;

/** Formats videos as a table, one per row. */
export function videoTable(videos: readonly Video[], shell: Screen, nowMs: number): string {
  const columns = [
    { title: 'STATUS', style: statusStyle },
    { title: 'ID' },
    { title: 'TITLE', cut: 'end' as const },
    { title: 'LENGTH', align: 'right' as const },
    { title: 'CREATED' },
  ];
  const rows = videos.map((video) => [
    video.status,
    video.id,
    video.title || UNKNOWN,
    lengthOf(video) ?? UNKNOWN,
    formatMoment(video.createdAt || undefined, nowMs, shell.stdout.isTTY),
  ]);
  return renderTable(columns, rows, tableOptions(shell));
}

/** Describes everything about one video. */
export function describeVideo(video: Video, shell: Screen): string {
  return renderDetails(videoDetails(video), hasColour(shell.stdout, shell.env));
}

export function videoDetails(video: Video): readonly Detail[] {
  return [
    { label: 'id', value: video.id },
    { label: 'title', value: video.title || null },
    { label: 'status', value: video.status, style: statusStyle(video.status) },
    { label: 'why', value: video.message ?? null },
    // Only a description may span several lines.
    { label: 'description', value: video.description?.split('\n') ?? null },
    { label: 'channel', value: video.channelId ?? null },
    { label: 'tags', value: video.tags?.join(', ') || null },
    { label: 'length', value: lengthOf(video) },
    { label: 'created', value: video.createdAt || null },
    { label: 'imported from', value: video.sourceUrl ?? null },
    { label: 'thumbnail', value: video.thumbnailUrl ?? null },
    { label: 'embed', value: video.embedUrl || null },
  ];
}

export function statusStyle(status: string): Style | null {
  if (status === 'ready') return 'green';
  if (status === 'failed') return 'red';
  return status === 'pending' || status === 'processing' ? 'yellow' : null;
}

function lengthOf({ duration }: Video): string | null {
  return duration === undefined ? null : formatDuration(duration * 1000);
}
