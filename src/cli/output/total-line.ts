import type { RunTotals } from '../run/run-tally.ts';
import { formatBytes, formatDuration, formatPercent, formatRate } from './format.ts';
import type { FileProgress, ProgressView, Requests } from './progress-view.ts';
import { etaMs } from './transfer-rates.ts';

/**
 * Formats the totals as parts, most important first: `3/12 done, 1 failed   45 MB / 120 MB   8.1 MB/s   9.2 s left
 * requests 12/1000`. Empty if the view has no totals.
 */
export function totalParts({ totals, requests }: ProgressView, rate: number | null, nowMs: number): readonly string[] {
  if (totals === null) return [];
  const moved = bytesParts({ sentBytes: totals.sentBytes, sizeBytes: totals.totalBytes }, rate);
  return [counts(totals), ...moved, ...(requests === null ? [] : [budget(requests, nowMs)])];
}

/** Formats one running upload as parts, such as `45%`, `12 MB / 30 MB`, `8.1 MB/s` and `2.2 s left`. */
export function fileParts(file: FileProgress, rate: number | null): readonly string[] {
  return [formatPercent(file.sentBytes, file.sizeBytes), ...bytesParts(file, rate)];
}

type Bytes = Pick<FileProgress, 'sentBytes' | 'sizeBytes'>;

function bytesParts({ sentBytes, sizeBytes }: Bytes, rate: number | null): readonly string[] {
  const amount = `${formatBytes(sentBytes)} / ${formatBytes(sizeBytes)}`;
  if (sentBytes >= sizeBytes) return [amount];
  const leftMs = etaMs(sizeBytes - sentBytes, rate);
  const speed = rate === null ? [] : [formatRate(rate)];
  return [amount, ...speed, ...(leftMs === null ? [] : [`${formatDuration(leftMs)} left`])];
}

function counts({ done, failed, held, total }: RunTotals): string {
  const rest = [failed > 0 ? `, ${failed} failed` : '', held > 0 ? `, ${held} held` : ''].join('');
  return `${done}/${total} done${rest}`;
}

function budget({ used, limit, waitingUntil }: Requests, nowMs: number): string {
  const wait =
    waitingUntil === null || waitingUntil <= nowMs ? '' : `, next in ${formatDuration(waitingUntil - nowMs)}`;
  return `requests ${used}/${limit}${wait}`;
}
