import { LiveProgress } from './live-progress.ts';
import { PlainProgress } from './plain-progress.ts';
import type { Progress, ProgressOptions } from './progress-view.ts';

/**
 * Creates the display for a stream: a live region on a terminal that can redraw, plain lines otherwise. Never throws
 * for a broken stream.
 */
export function createProgress(options: ProgressOptions): Progress {
  // A reader that exits (`| head`, a closed terminal) must not stop the upload.
  options.stream.on('error', () => {});
  return options.isTerminal && canRedraw(options) ? new LiveProgress(options) : new PlainProgress(options);
}

/**
 * Whether the terminal can redraw. False if it cannot move its cursor or does not know its size (0 by 0 on some
 * consoles and in `script`).
 */
function canRedraw({ stream, env = process.env }: ProgressOptions): boolean {
  return env['TERM'] !== 'dumb' && stream.columns !== 0 && stream.rows !== 0;
}
