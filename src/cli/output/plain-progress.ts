import { formatBytes, formatDuration } from './format.ts';
import { hasEnded } from './progress-view.ts';
import type { FileProgress, Progress, ProgressOptions, ProgressView } from './progress-view.ts';
import { fileParts, totalParts } from './total-line.ts';
import { TransferRates } from './transfer-rates.ts';
import { permanentLine } from './permanent-line.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';

const TOTAL_EVERY_MS = 10_000;

interface Seen extends Pick<FileProgress, 'stage' | 'isRetrying'> {
  readonly firstAtMs: number;
}

/** Progress for pipes, files and CI logs: one line per stage change, and the total every 10 s. */
export class PlainProgress implements Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #now: () => number;
  readonly #rates = new TransferRates();
  /** Files that are not finished. */
  readonly #seen = new Map<string, Seen>();
  #view: ProgressView | null = null;
  #totalAt: number | null = null;
  #lastTotal = '';
  #isFinished = false;

  constructor({ stream, now }: ProgressOptions) {
    this.#stream = stream;
    this.#now = now;
  }

  update(view: ProgressView): void {
    if (this.#isFinished) return;
    const nowMs = this.#now();
    this.#view = view;
    this.#rates.observe(view, nowMs);
    this.#writeChanges(view.files, nowMs);
    this.#totalAt ??= nowMs;
    if (nowMs - this.#totalAt >= TOTAL_EVERY_MS) this.#writeTotal(view, nowMs);
  }

  line(text: string): void {
    this.#stream.write(`${permanentLine(text)}\n`);
  }

  finish(): void {
    if (this.#view && !this.#isFinished) this.#writeTotal(this.#view, this.#now());
    this.#isFinished = true;
  }

  #writeChanges(files: readonly FileProgress[], nowMs: number): void {
    const lines: string[] = [];
    for (const file of files) {
      const before = this.#seen.get(file.id);
      if (before?.stage === file.stage && before.isRetrying === file.isRetrying) continue;
      const firstAtMs = before?.firstAtMs ?? nowMs;
      lines.push(`${changeLine(file, nowMs - firstAtMs)}\n`);
      if (hasEnded(file)) this.#seen.delete(file.id);
      else this.#seen.set(file.id, { stage: file.stage, isRetrying: file.isRetrying, firstAtMs });
    }
    if (lines.length > 0) this.#stream.write(lines.join(''));
  }

  #writeTotal(view: ProgressView, nowMs: number): void {
    this.#totalAt = nowMs;
    const total = this.#totalLine(view, nowMs);
    if (total !== this.#lastTotal) this.#stream.write(total);
    this.#lastTotal = total;
  }

  /** The total, or one line per running upload if there are no totals. */
  #totalLine(view: ProgressView, nowMs: number): string {
    if (view.totals !== null) return `total: ${totalParts(view, this.#rates.ofAll(nowMs), nowMs).join(', ')}\n`;
    return view.files
      .filter(({ stage, isRetrying }) => stage === 'uploading' && isRetrying !== true)
      .map(
        (file) => `${escapeControls(file.name)}: ${fileParts(file, this.#rates.ofFile(file.id, nowMs)).join(', ')}\n`,
      )
      .join('');
  }
}

/**
 * Formats a stage change: `clip.mp4: uploading (12.3 MB)`, `clip.mp4: done in 3.2 s`, `clip.mp4: held: no rule
 * matches`.
 */
function changeLine(file: FileProgress, elapsedMs: number): string {
  const head = `${escapeControls(file.name)}: ${escapeControls(file.stage)}`;
  if (file.why !== null) return `${head}: ${escapeControls(file.why)}`;
  if (file.stage === 'uploading') return `${head} (${formatBytes(file.sizeBytes)})`;
  return file.stage === 'done' ? `${head} in ${formatDuration(elapsedMs)}` : head;
}
