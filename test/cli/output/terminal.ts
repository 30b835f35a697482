import { Writable } from 'node:stream';
import stringWidth from 'string-width';

/**
 * As much of a terminal as the live region uses: rows, a cursor, erasing, and wrapping of long lines, also when it is made narrower.
 * An escape sequence it does not know fails the test.
 */
export class Terminal extends Writable {
  isTTY = true;
  columns: number;
  rows: number;
  /** Everything that was written. */
  raw = '';
  #lines: string[] = [''];
  #row = 0;
  #column = 0;

  constructor(columns = 80, rows = 24) {
    super({ decodeStrings: false });
    this.columns = columns;
    this.rows = rows;
  }

  /** What a person sees, scrollback and all, without colours and the empty rows at the end. */
  get screen(): readonly string[] {
    const last = this.#lines.findLastIndex((line) => line !== '');
    return this.#lines.slice(0, last + 1);
  }

  /** As the tty stream that the code expects. */
  get stream(): NodeJS.WriteStream {
    return this as unknown as NodeJS.WriteStream;
  }

  resize(columns: number): void {
    this.columns = columns;
    const above = this.#lines.slice(0, this.#row).flatMap((line) => this.#wrap(line));
    this.#lines = [...above, ...this.#lines.slice(this.#row).flatMap((line) => this.#wrap(line))];
    this.#row = above.length;
    this.emit('resize');
  }

  override _write(text: string, _encoding: BufferEncoding, done: () => void): void {
    this.raw += text;
    // oxlint-disable-next-line no-control-regex -- escape sequences are what a terminal reads
    for (const [part] of text.matchAll(/\u{1B}\[\??[\d;]*[A-Za-z]|\n|[^\u{1B}\n]+/gu)) this.#put(part);
    done();
  }

  #put(part: string): void {
    if (part === '\n') {
      this.#move(1);
      this.#column = 0;
    } else if (part.startsWith('\u{1B}')) this.#control(part.slice(2, -1), part.at(-1) ?? '');
    else this.#type(part);
  }

  #control(argument: string, command: string): void {
    const count = Number(argument || '1');
    if (command === 'A') this.#move(-Math.min(count, this.#row));
    else if (command === 'B') this.#move(count);
    else if (command === 'G') this.#column = count - 1;
    else if (command === 'K' && argument === '2') this.#lines[this.#row] = '';
    else if (command === 'K') this.#lines[this.#row] = (this.#lines[this.#row] ?? '').slice(0, this.#column);
    else if (command !== 'm' && argument !== '?2026') throw new Error(`unknown escape sequence ${argument}${command}`);
  }

  #type(text: string): void {
    const line = this.#lines[this.#row] ?? '';
    this.#lines[this.#row] =
      line.slice(0, this.#column).padEnd(this.#column) + text + line.slice(this.#column + text.length);
    this.#column += text.length;
    if (stringWidth(this.#lines[this.#row] ?? '') > this.columns) throw new Error(`wider than the terminal: ${text}`);
  }

  #move(rows: number): void {
    this.#row += rows;
    while (this.#lines.length <= this.#row) this.#lines.push('');
  }

  #wrap(line: string): readonly string[] {
    if (line.length <= this.columns) return [line];
    return [line.slice(0, this.columns), ...this.#wrap(line.slice(this.columns))];
  }
}
