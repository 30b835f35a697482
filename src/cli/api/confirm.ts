import { createInterface } from 'node:readline';
import type { Shell } from '../shell.ts';

/** Whether the command is attached to a terminal. */
export function canAsk({ stdin, stderr }: Pick<Shell, 'stdin' | 'stderr'>): boolean {
  return stdin.isTTY && stderr.isTTY;
}

/**
 * Asks a yes-or-no question. Uses the terminal's own line editing, so that Ctrl-C remains a signal.
 *
 * @param question already escaped for the terminal
 * @returns true only for `y` and `yes`; false also when the input ends or the command is stopped
 */
export async function confirm(
  { stdin, stderr, stopping }: Pick<Shell, 'stdin' | 'stderr' | 'stopping'>,
  question: string,
): Promise<boolean> {
  const lines = createInterface({ input: stdin, output: stderr, terminal: false, signal: stopping });
  try {
    const answer = await new Promise<string | null>((resolve) => {
      lines.once('close', () => resolve(null));
      lines.question(`${question} [y/N] `, resolve);
    });
    // Ctrl-D and Ctrl-C leave the cursor after the question.
    if (answer === null) stderr.write('\n');
    return /^\s*y(?:es)?\s*$/i.test(answer ?? '');
  } finally {
    lines.close();
  }
}
