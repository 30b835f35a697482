import { formatBytes, formatDuration, formatRate } from './format.ts';
import type { ProgressView } from './progress-view.ts';
import { etaMs } from './rate.ts';

/** `3/12 done, 1 failed   45 MB / 120 MB   8.1 MB/s   9.2 s left   requests 12/1000`; the parts by which it may be cut, most important first. */
export function totalParts(view: ProgressView, rate: number | null, nowMs: number): readonly string[] {
  const { sentBytes, totalBytes } = view.totals;
  const isMoving = sentBytes < totalBytes;
  return [
    counts(view.totals),
    `${formatBytes(sentBytes)} / ${formatBytes(totalBytes)}`,
    ...(isMoving ? [formatRate(rate), `${formatDuration(etaMs(totalBytes - sentBytes, rate))} left`] : []),
    requests(view.requests, nowMs),
  ];
}

function counts({ done, failed, held, total }: ProgressView['totals']): string {
  const rest = [failed > 0 ? `, ${failed} failed` : '', held > 0 ? `, ${held} held` : ''].join('');
  return `${done}/${total} done${rest}`;
}

function requests({ used, limit, waitingUntil }: ProgressView['requests'], nowMs: number): string {
  const wait =
    waitingUntil === null || waitingUntil <= nowMs ? '' : `, next in ${formatDuration(waitingUntil - nowMs)}`;
  return `requests ${used}/${limit}${wait}`;
}
