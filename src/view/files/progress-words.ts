import { clockTime, rate, size } from '../words/text.ts';
import type { FileView } from './file-view.ts';

/** Values of a finished file's `local` that still have something to report. */
const unfinished: ReadonlySet<string | null> = new Set(['later', 'pending', 'waiting', 'refused']);

/**
 * Explains, in one sentence, why a file is where it is and what happens next and when. Empty when there is nothing to
 * add. Pure.
 */
export function reasonWords(file: FileView, now: number): string {
  if (file.state === 'done' && !unfinished.has(file.local)) return '';
  const parts = [file.why, nextWords(file, now)].filter((part) => part !== null && part !== '');
  return parts.join('; ');
}

/** Describes what happens next and when; null when nothing does, or `why` already says so. Pure. */
export function nextWords(file: FileView, now: number): string | null {
  if (file.not_before !== null) return `next try at ${clockTime(file.not_before, now)}`;
  return progressWords(file, now);
}

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

function forWords(ms: number): string {
  return ms < 2 * minuteMs ? `${Math.round(Math.max(0, ms) / 1_000)} s` : `${Math.floor(ms / minuteMs)} min`;
}
