import { createInterface } from 'node:readline';
import type { Shell } from '../shell.ts';

type Asking = Pick<Shell, 'stdin' | 'stderr' | 'stopping'>;

/** Whether there is a person to ask. */
export function canAsk({ stdin, stderr }: Pick<Shell, 'stdin' | 'stderr'>): boolean {
  return stdin.isTTY && stderr.isTTY;
}

/**
 * Asks a question that is answered with yes or no. The terminal edits the line itself, so that Ctrl-C stays a signal.
 *
 * @param question safe to be printed
 * @returns false for everything but `y` and `yes`, also when the input ends or the command is stopped
 */
export async function confirm({ stdin, stderr, stopping }: Asking, question: string): Promise<boolean> {
  const lines = createInterface({ input: stdin, output: stderr, terminal: false, signal: stopping });
  try {
    const answer = await new Promise<string | null>((resolve) => {
      lines.once('close', () => resolve(null));
      lines.question(`${question} [y/N] `, resolve);
    });
    // Ctrl-D and Ctrl-C leave the cursor behind the question.
    if (answer === null) stderr.write('\n');
    return /^\s*y(?:es)?\s*$/i.test(answer ?? '');
  } finally {
    lines.close();
  }
}
