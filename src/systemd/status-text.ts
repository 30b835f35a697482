import { filesIn } from '../view/stages.ts';
import type { LivePicture } from '../view/picture/picture.ts';
import { mainWait, waitWords } from '../view/waits.ts';

/** Status until the first scan of every folder has ended. */
export const startingText = 'Scanning the folders';

/**
 * The picture in one line, for `systemctl status`: `12 queued · 3 uploading · 1 needs you · API 412/1000`. Leaves out zeros.
 *
 * @param now epoch milliseconds
 */
export function statusText(
  { stages, retrying, counts, waits, needs_you: { files: needsYou }, budget }: LivePicture,
  now = Date.now(),
): string {
  const frozen = waits.filter(({ cause }) => cause === 'folder').length;
  const missing = part(frozen, frozen === 1 ? 'folder frozen' : 'folders frozen');
  const wait = mainWait(waits, filesIn(stages, 'queued'));
  if (wait !== null) return [waitWords(wait, now), ...missing].join(' · ');
  const onTheWay = stages.filter(({ name }) => name !== 'live');
  const working = onTheWay.flatMap(({ name, files, retrying: resuming }) => part(files + resuming, name));
  const again = retrying.files === 0 ? '' : ` (${retrying.files} retrying)`;
  return [
    ...(working.length > 0 ? [`${working.join(' · ')}${again}`] : ['Idle', ...part(counts['done'] ?? 0, 'done')]),
    ...part(needsYou, needsYou === 1 ? 'needs you' : 'need you'),
    ...missing,
    `API ${budget.used}/${budget.limit}`,
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
