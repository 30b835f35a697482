import { createLogUpdate } from 'log-update';
import { displayWidth } from './text-width.ts';

/** A block of lines at the bottom of a terminal that is redrawn in place. */
export class LiveRegion {
  readonly #stream: NodeJS.WriteStream;
  readonly #region: ReturnType<typeof createLogUpdate>;
  readonly #onResize: () => void;
  #lines: readonly string[] = [];

  /** @param redraw called after the terminal was resized */
  constructor(stream: NodeJS.WriteStream, redraw: () => void) {
    this.#stream = stream;
    // The cursor stays visible, so that SIGKILL leaves nothing to repair and no signal handler is needed.
    this.#region = createLogUpdate(stream, { showCursor: true });
    this.#onResize = () => {
      this.#erase(stream.columns ?? 80);
      redraw();
    };
    stream.on('resize', this.#onResize);
  }

  draw(lines: readonly string[]): void {
    this.#lines = lines;
    // Drawing zero lines would leave an empty row.
    if (lines.length === 0) this.#region.clear();
    else this.#region(lines.join('\n'));
  }

  /** Writes permanent lines above the region. The region must be drawn again afterwards. */
  persist(text: string): void {
    this.#region.persist(text);
    this.#lines = [];
  }

  /**
   * Erases the region of a terminal that was resized. A narrower terminal wraps the lines into more rows than
   * log-update wrote and erases, so the extra rows are erased here.
   */
  #erase(columns: number): void {
    const wrapped = this.#lines.reduce(
      (rows, line) => rows + Math.max(0, Math.ceil(displayWidth(line) / columns) - 1),
      0,
    );
    this.#region.clear();
    if (wrapped > 0) this.#stream.write('\u{1B}[1A\u{1B}[2K'.repeat(wrapped));
    this.#lines = [];
  }

  /** Leaves the lines on the terminal. Later ones are drawn below them. */
  rest(): void {
    this.#region.done();
  }

  /** Ends the region and leaves its lines on the terminal. */
  done(): void {
    this.#stream.off('resize', this.#onResize);
    this.#region.done();
  }
}
