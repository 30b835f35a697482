import { badge, percent } from '@dropcast/pages';
import type { BadgeKind, Html } from '@dropcast/pages';
import type { FileView } from '../../../view/files/file-view.ts';

/** The stage of a file or how it ended: its word with a shape, and how much of it is sent. */
export function stageBadge({ stage, state, sent, size }: Pick<FileView, 'stage' | 'state' | 'sent' | 'size'>): Html {
  const isSent = state === 'uploading' && size > 0;
  return badge(
    kinds[state] ?? 'off',
    isSent ? `${stage} ${percent(Math.floor((100 * (sent ?? 0)) / size) / 100)}` : stage,
  );
}

/** By state: a file that waits for a retry has another shape than one that is worked on. */
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
