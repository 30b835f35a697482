import type { Summary } from '../daemon/summary.ts';

/** Status until the first scan of every folder has ended. */
export const startingText = 'Scanning the folders';

/**
 * The daemon in one line, for `systemctl status`: `3 uploading · 12 queued · 1 needs you · API 412/1000`. Leaves out zeros; the words are
 * those of the states.
 */
export function statusText(summary: Summary): string {
  const missing = part(summary.frozen, summary.frozen === 1 ? 'folder missing' : 'folders missing');
  if (summary.waiting !== null) return [`Waiting: ${summary.waiting}`, ...missing].join(' · ');
  const working = [
    part(summary.uploading, 'uploading'),
    part(summary.queued, 'queued'),
    part(summary.processing, 'processing'),
    part(summary.awaitingPublish, 'awaiting publish'),
    part(summary.retrying, 'retrying'),
    part(summary.settling, 'settling'),
  ].flat();
  const { used, limit } = summary.requests;
  return [
    ...(working.length > 0 ? working : ['Idle', ...part(summary.done, 'done')]),
    ...part(summary.needsYou, summary.needsYou === 1 ? 'needs you' : 'need you'),
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
