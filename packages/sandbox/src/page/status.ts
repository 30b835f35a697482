import { badge, type BadgeKind, type Html } from '@dropcast/pages';
import type { VideoStatus } from '../store/videos.ts';

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
