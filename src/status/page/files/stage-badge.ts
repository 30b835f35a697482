import { badge, percent } from '@dropcast/pages';
import type { BadgeKind, Html } from '@dropcast/pages';
import type { FileView } from '../../../view/files/file-view.ts';

/** Renders a file's stage or end as a word with a shape, and its upload progress. */
export function stageBadge({ stage, state, sent, size }: Pick<FileView, 'stage' | 'state' | 'sent' | 'size'>): Html {
  const isSent = state === 'uploading' && size > 0;
  return badge(
    kinds[state] ?? 'off',
    isSent ? `${stage} ${percent(Math.floor((100 * (sent ?? 0)) / size) / 100)}` : stage,
  );
}

/** Badge shape by state: files waiting for a retry have a different shape from files in progress. */
const kinds: Readonly<Record<string, BadgeKind | undefined>> = {
  settling: 'waiting',
  queued: 'waiting',
  creating: 'busy',
  'awaiting upload': 'waiting',
  uploading: 'busy',
  processing: 'busy',
  'awaiting publish': 'waiting',
  retrying: 'notice',
  done: 'good',
  failed: 'bad',
  held: 'notice',
};
