import { rate, size } from '../words/amounts.ts';
import { clockTime } from '../words/clock-time.ts';
import type { FileView } from './file-view.ts';

/**
 * Describes how far the upload has progressed, when it starts, or when the video will be ready. Null when there is
 * nothing to add, or `why` already says so. Pure.
 *
 * @param nowMs epoch milliseconds
 */
export function progressWords(
  file: Pick<FileView, 'upload' | 'queue' | 'sent' | 'size' | 'why'> & Partial<Pick<FileView, 'ready_at'>>,
  nowMs: number,
): string | null {
  const { upload, queue } = file;
  if (upload !== null) return uploadWords(upload, { sent: file.sent ?? 0, size: file.size }, nowMs);
  if (queue !== null) return startWords(queue, file.why ?? '', nowMs);
  return file.ready_at === null || file.ready_at === undefined ? null : `ready ${timeWords(file.ready_at, nowMs)}`;
}

function uploadWords(
  { bytes_per_second: speed, stalled_since: stalledSince, done_at: doneAt }: NonNullable<FileView['upload']>,
  bytes: { readonly sent: number; readonly size: number },
  nowMs: number,
): string | null {
  if (bytes.sent >= bytes.size) return null;
  const share = `${size(bytes.sent)} of ${size(bytes.size)}`;
  if (stalledSince !== null) return `stalled for ${forWords(nowMs - stalledSince)} at ${share}`;
  const at = speed === null ? '' : ` at ${rate(speed)}`;
  const done = doneAt === null ? '' : `, done ${timeWords(doneAt, nowMs)}`;
  return `${share}${at}${done}`;
}

function startWords(
  { starts_at: startsAt }: NonNullable<FileView['queue']>,
  why: string,
  nowMs: number,
): string | null {
  if (startsAt === null || why.endsWith(clockTime(startsAt, nowMs))) return null;
  return `starts ${timeWords(startsAt, nowMs)}`;
}

const minuteMs = 60_000;

/** Example: `in about 4 min`; a clock time if more than an hour away. */
function timeWords(atMs: number, nowMs: number): string {
  const inMs = atMs - nowMs;
  if (inMs < minuteMs) return 'in less than a minute';
  return inMs < 60 * minuteMs ? `in about ${Math.round(inMs / minuteMs)} min` : `at about ${clockTime(atMs, nowMs)}`;
}

/** `20 s`, `4 min` */
function forWords(ms: number): string {
  return ms < 2 * minuteMs ? `${Math.round(Math.max(0, ms) / 1_000)} s` : `${Math.floor(ms / minuteMs)} min`;
}
