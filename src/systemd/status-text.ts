import type { Brief } from '../daemon/brief.ts';

/** Status until the first scan of every folder has ended. */
export const startingText = 'Scanning the folders';

/**
 * The daemon in one line, for `systemctl status`: `3 uploading · 12 queued · 1 needs you · API 412/1000`. Leaves out zeros; the words are
 * those of the states.
 */
export function statusText(brief: Brief): string {
  const missing = part(brief.away, brief.away === 1 ? 'folder missing' : 'folders missing');
  if (brief.waiting !== null) return [`Waiting: ${brief.waiting}`, ...missing].join(' · ');
  const working = [
    part(brief.uploading, 'uploading'),
    part(brief.queued, 'queued'),
    part(brief.processing, 'processing'),
    part(brief.awaitingPublish, 'awaiting publish'),
    part(brief.retrying, 'retrying'),
    part(brief.settling, 'settling'),
  ].flat();
  const { used, limit } = brief.requests;
  return [
    ...(working.length > 0 ? working : ['Idle', ...part(brief.done, 'done')]),
    ...part(brief.needsYou, brief.needsYou === 1 ? 'needs you' : 'need you'),
    ...missing,
    `API ${used}/${limit}`,
  ].join(' · ');
}

/** Status while the daemon stops: how many uploads it waits for. */
export function stoppingText(uploads: number): string {
  if (uploads === 0) return 'Stopping';
  return `Stopping: waiting for ${uploads} ${uploads === 1 ? 'upload' : 'uploads'}`;
}

function part(count: number, words: string): string[] {
  return count > 0 ? [`${count} ${words}`] : [];
}
