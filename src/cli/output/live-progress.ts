import { hasColour } from '../../log/colour.ts';
import { LiveRegion } from './live-region.ts';
import type { Progress, ProgressOptions, ProgressView } from './progress-view.ts';
import { progressFrame } from './progress-frame.ts';
import type { FrameSize } from './progress-frame.ts';
import { TransferRates } from './transfer-rates.ts';
import { permanentLine } from './permanent-line.ts';

/** Minimum time between frames. More than ten per second are invisible, and slow terminals over SSH fall behind. */
const MIN_REDRAW_MS = 100;
/** Maximum time between frames. Redrawing without news makes a stall visible as a falling rate. */
const IDLE_REDRAW_MS = 1_000;

/** A progress display at the bottom of the terminal, redrawn in place. */
export class LiveProgress implements Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #now: () => number;
  readonly #region: LiveRegion;
  readonly #rates = new TransferRates();
  readonly #colour: boolean;
  readonly #onResize = () => this.#resize();
  #view: ProgressView | null = null;
  #drawnAt = -Infinity;
  #timer: NodeJS.Timeout | null = null;
  #isFinished = false;

  constructor({ stream, now, env = process.env }: ProgressOptions) {
    this.#stream = stream;
    this.#now = now;
    this.#colour = hasColour(stream, env);
    this.#region = new LiveRegion(stream);
    stream.on('resize', this.#onResize);
  }

  update(view: ProgressView): void {
    if (this.#isFinished) return;
    this.#view = view;
    this.#rates.observe(view, this.#now());
    const waitMs = this.#drawnAt + MIN_REDRAW_MS - this.#now();
    if (waitMs <= 0) this.#draw();
    else this.#drawIn(waitMs);
  }

  line(text: string): void {
    this.#region.persist(permanentLine(text));
    if (!this.#isFinished) this.#draw();
  }

  finish(): void {
    if (this.#isFinished) return;
    if (this.#view) this.#draw();
    this.#isFinished = true;
    this.#stopTimer();
    this.#stream.off('resize', this.#onResize);
    this.#region.done();
  }

  #draw(): void {
    if (!this.#view) return;
    const nowMs = this.#now();
    this.#rates.observe(this.#view, nowMs);
    this.#drawnAt = nowMs;
    this.#region.draw(
      progressFrame({ view: this.#view, rates: this.#rates, nowMs, size: this.#size(), colour: this.#colour }),
    );
    this.#drawIn(IDLE_REDRAW_MS);
  }

  #drawIn(waitMs: number): void {
    this.#stopTimer();
    this.#timer = setTimeout(() => this.#draw(), waitMs).unref();
  }

  #stopTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #size(): FrameSize {
    return { columns: this.#stream.columns ?? 80, rows: this.#stream.rows ?? 24 };
  }

  #resize(): void {
    this.#region.erase(this.#size().columns);
    this.#draw();
  }
}
