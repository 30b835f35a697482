import { createInterface } from 'node:readline';
import type { Shell } from '../shell.ts';

/** Whether the command is attached to a terminal. */
export function canAsk({ stdin, stderr }: Pick<Shell, 'stdin' | 'stderr'>): boolean {
  return stdin.isTTY && stderr.isTTY;
}

type Terminal = Pick<Shell, 'stdin' | 'stderr' | 'stopping'>;

/**
 * Asks a yes-or-no question.
 *
 * @param question already escaped for the terminal
 * @returns true only for `y` and `yes`; false also when the input ends or the command is stopped
 */
export async function confirm(terminal: Terminal, question: string): Promise<boolean> {
  const answer = await askLine(terminal, `${question} [y/N] `);
  // Ctrl-D and Ctrl-C leave the cursor after the question.
  if (answer === null) terminal.stderr.write('\n');
  return /^\s*y(?:es)?\s*$/i.test(answer ?? '');
}

/**
 * Asks for a line. Uses the terminal's own line editing, so that Ctrl-C remains a signal.
 *
 * @returns null when the input ends or the command is stopped
 */
export async function askLine({ stdin, stderr, stopping }: Terminal, question: string): Promise<string | null> {
  const lines = createInterface({ input: stdin, output: stderr, terminal: false, signal: stopping });
  try {
    return await new Promise((resolve) => {
      lines.once('close', () => resolve(null));
      lines.question(question, resolve);
    });
  } finally {
    lines.close();
  }
}
