import { Writable } from 'node:stream';
import { escapeControls } from '../../log/unsafe-characters.ts';
import type { Progress } from './progress-view.ts';

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
