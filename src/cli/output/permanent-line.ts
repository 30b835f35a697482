import { Writable } from 'node:stream';
import { escapeControls } from '../../log/unsafe-characters.ts';
import type { Progress } from './progress-view.ts';

/**
 * A stream whose lines become permanent lines of a progress display: what the log writes to while a live region is on the same terminal.
 * A line may come in pieces; the last one counts when the stream ends.
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

/** Colours and weights as `styleText` writes them; anything longer or different is not let through. */
// oxlint-disable-next-line no-control-regex -- ESC is what is looked for
const STYLE = /(\u{1B}\[[\d;]{1,16}m)/u;

/** A whole line of ours that holds such text: the newline at its end goes, its colours stay and end with it, all else is made safe. */
export function permanentLine(text: string): string {
  const parts = text.replace(/\r?\n$/, '').split(STYLE);
  const safe = parts.map((part, index) => (index % 2 === 1 ? part : escapeControls(part))).join('');
  return parts.length > 1 ? `${safe}\u{1B}[0m` : safe;
}
