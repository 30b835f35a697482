import { LiveProgress } from './live-progress.ts';
import { PlainProgress } from './plain-progress.ts';
import type { Progress, ProgressOptions } from './progress-view.ts';

export function createProgress(options: ProgressOptions): Progress {
  // A reader that goes away (`| head`, a closed terminal) is no reason to stop the work.
  options.stream.on('error', () => {});
  return options.isTerminal && canRedraw(options) ? new LiveProgress(options) : new PlainProgress(options);
}

/** A terminal that cannot move its cursor, or does not know its size (0 by 0 on some consoles and in `script`), gets plain lines. */
function canRedraw({ stream, env = process.env }: ProgressOptions): boolean {
  return env['TERM'] !== 'dumb' && stream.columns !== 0 && stream.rows !== 0;
}
