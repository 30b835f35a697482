import { Writable } from 'node:stream';
import { hasColour } from '../../log/colour.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import type { Shell } from '../shell.ts';
import { formatBytes, formatDuration } from './format.ts';
import { LiveRegion } from './live-region.ts';
import { fileParts, progressFrame, totalParts } from './progress-frame.ts';
import { hasEnded, TransferRates } from './progress-view.ts';
import type { FileProgress, ProgressView } from './progress-view.ts';

/** Shows the progress of a run: as a live region on a terminal, as one line per change elsewhere. */
export interface Progress {
  /** Updates the display with the current state. Cheap enough to call for every chunk sent. */
  update(view: ProgressView): void;
  /**
   * Writes a permanent line (such as a result), above the live region on a terminal. Keeps the line's colours and
   * escapes everything else.
   */
  line(text: string): void;
  /** Draws the final state and leaves it there. Later updates are ignored; later lines appear below. */
  finish(): void;
}

/**
 * Creates the display on stderr: a live region on a terminal that can redraw, plain lines otherwise. Never throws for a
 * broken stream.
 */
export function createProgress({ stderr, env }: Pick<Shell, 'stderr' | 'env'>): Progress {
  // A reader that exits (`| head`, a closed terminal) must not stop the upload.
  stderr.on('error', () => {});
  // Some consoles, and `script`, do not know their size: it is 0 by 0.
  const canRedraw = stderr.isTTY && env['TERM'] !== 'dumb' && stderr.columns !== 0 && stderr.rows !== 0;
  return canRedraw ? new LiveProgress(stderr, hasColour(stderr, env)) : new PlainProgress(stderr);
}

/** Minimum time between frames. More than ten per second are invisible, and slow terminals over SSH fall behind. */
const MIN_REDRAW_MS = 100;
/** Maximum time between frames. Redrawing without news makes a stall visible as a falling rate. */
const IDLE_REDRAW_MS = 1_000;

/** A progress display at the bottom of the terminal, redrawn in place. */
class LiveProgress implements Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #colour: boolean;
  readonly #region: LiveRegion;
  readonly #rates = new TransferRates();
  #view: ProgressView | null = null;
  #drawnAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #isFinished = false;

  constructor(stream: NodeJS.WriteStream, colour: boolean) {
    this.#stream = stream;
    this.#colour = colour;
    this.#region = new LiveRegion(stream, () => this.#draw());
  }

  update(view: ProgressView): void {
    if (this.#isFinished) return;
    this.#view = view;
    this.#rates.observe(view, performance.now());
    const waitMs = this.#drawnAt + MIN_REDRAW_MS - performance.now();
    if (waitMs <= 0) this.#draw();
    else this.#drawIn(waitMs);
  }

  line(text: string): void {
    this.#region.persist(permanentLine(text));
    if (!this.#isFinished) this.#draw();
  }

  finish(): void {
    if (this.#isFinished) return;
    this.#draw();
    this.#isFinished = true;
    clearTimeout(this.#timer);
    this.#region.done();
  }

  #draw(): void {
    if (!this.#view) return;
    const nowMs = performance.now();
    this.#rates.observe(this.#view, nowMs);
    this.#drawnAt = nowMs;
    const size = { columns: this.#stream.columns ?? 80, rows: this.#stream.rows ?? 24 };
    const frame = { view: this.#view, rates: this.#rates, nowMs, size, colour: this.#colour };
    this.#region.draw(progressFrame(frame));
    this.#drawIn(IDLE_REDRAW_MS);
  }

  #drawIn(waitMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#draw(), waitMs).unref();
  }
}

const TOTAL_EVERY_MS = 10_000;

/** Progress for pipes, files and CI logs: one line per stage change, and the total every 10 s. */
class PlainProgress implements Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #rates = new TransferRates();
  /** Files that are not finished. */
  readonly #seen = new Map<string, { readonly file: FileProgress; readonly firstAtMs: number }>();
  #view: ProgressView | null = null;
  #totalAt: number | null = null;
  #lastTotal = '';
  #isFinished = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  update(view: ProgressView): void {
    if (this.#isFinished) return;
    const nowMs = performance.now();
    this.#view = view;
    this.#rates.observe(view, nowMs);
    const lines = view.files.flatMap((file) => this.#changeOf(file, nowMs));
    if (lines.length > 0) this.#stream.write(lines.join(''));
    this.#totalAt ??= nowMs;
    if (nowMs - this.#totalAt >= TOTAL_EVERY_MS) this.#writeTotal(view, nowMs);
  }

  line(text: string): void {
    this.#stream.write(`${permanentLine(text)}\n`);
  }

  finish(): void {
    if (this.#view && !this.#isFinished) this.#writeTotal(this.#view, performance.now());
    this.#isFinished = true;
  }

  #changeOf(file: FileProgress, nowMs: number): readonly string[] {
    const { file: before, firstAtMs = nowMs } = this.#seen.get(file.id) ?? {};
    if (before?.stage === file.stage && before.isRetrying === file.isRetrying) return [];
    if (hasEnded(file)) this.#seen.delete(file.id);
    else this.#seen.set(file.id, { file, firstAtMs });
    return [`${changeLine(file, nowMs - firstAtMs)}\n`];
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

/**
 * Creates a stream for log output while a live region uses the same terminal. Each line becomes a permanent line of the
 * display. Lines may arrive in pieces; the end of the stream completes the last one.
 */
export function lineStream(progress: Pick<Progress, 'line'>): Writable {
  let rest = '';
  return new Writable({
    write(chunk: string | Buffer, _encoding, done) {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) progress.line(line);
      done();
    },
    final(done) {
      if (rest !== '') progress.line(rest);
      done();
    },
  });
}

/** Colour and weight sequences as written by `styleText`. All others are escaped. */
// oxlint-disable-next-line no-control-regex -- ESC is what is looked for
const STYLE = /(\u{1B}\[[\d;]{1,16}m)/u;

/**
 * Makes a line of our own output safe: keeps its colours, resets them at the end, removes the final newline, and
 * escapes everything else.
 */
export function permanentLine(text: string): string {
  const parts = text.replace(/\r?\n$/, '').split(STYLE);
  const safe = parts.map((part, index) => (index % 2 === 1 ? part : escapeControls(part))).join('');
  return parts.length > 1 ? `${safe}\u{1B}[0m` : safe;
}
