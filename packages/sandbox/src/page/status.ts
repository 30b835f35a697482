import { badge, type BadgeKind, type Html } from '@dropcast/pages';
import type { VideoStatus } from '../store/videos.ts';

/** The status of a video, as the API calls it. */
export function status(word: VideoStatus): Html {
  return badge(KINDS[word], word);
}

const KINDS: Readonly<Record<VideoStatus, BadgeKind>> = {
  pending: 'waiting',
  processing: 'busy',
  ready: 'good',
  failed: 'bad',
};
