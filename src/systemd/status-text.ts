import type { Summary } from '../daemon/summary.ts';
import { mainWait, waitWords } from '../view/waits.ts';

/** Status until the first scan of every folder has ended. */
export const startingText = 'Scanning the folders';

/**
 * The daemon in one line, for `systemctl status`: `3 uploading · 12 queued · 1 needs you · API 412/1000`. Leaves out zeros; the words are
 * those of the states.
 *
 * @param now epoch milliseconds
 */
export function statusText(summary: Summary, now = Date.now()): string {
  const frozen = summary.waits.filter(({ cause }) => cause === 'folder').length;
  const missing = part(frozen, frozen === 1 ? 'folder frozen' : 'folders frozen');
  const wait = mainWait(summary.waits, summary.queued);
  if (wait !== null) return [waitWords(wait, now), ...missing].join(' · ');
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
