import type { Brief } from '../daemon/brief.ts';

/** Until the first scan of every folder is over. */
export const startingText = 'Looking through the folders';

/**
 * The daemon in one line, for `systemctl status`: `3 uploading · 12 queued · 1 needs you · API 412/1000`. What there is none of
 * is left out; the words are those of the states.
 */
export function statusText(brief: Brief): string {
  const away = part(brief.away, brief.away === 1 ? 'folder away' : 'folders away');
  if (brief.waiting !== null) return [`Waiting: ${brief.waiting}`, ...away].join(' · ');
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
    ...away,
    `API ${used}/${limit}`,
  ].join(' · ');
}

/** While it ends: how many uploads it still waits for. */
export function stoppingText(uploads: number): string {
  if (uploads === 0) return 'Stopping';
  return uploads === 1 ? 'Stopping: 1 upload finishes' : `Stopping: ${uploads} uploads finish`;
}

function part(count: number, words: string): string[] {
  return count > 0 ? [`${count} ${words}`] : [];
}
