import { Writable } from 'node:stream';
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
