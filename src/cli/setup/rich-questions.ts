import type * as Prompts from '@inquirer/prompts';
import { styleText } from 'node:util';
import type { Shell } from '../shell.ts';
import { plainQuestions } from './plain-questions.ts';
import { type Choice, InterruptedError, type Questions, matching } from './questions.ts';

/** Asks on a full terminal, where typing filters lists. The library is loaded with the first question. */
function richQuestions({ stdin, stderr, stopping }: Shell): Questions {
  // The theme has no green tick after Enter, because the answer is only checked then and may be refused.
  const theme = { prefix: styleText('blue', '?', { stream: stderr }) };
  const io = { input: stdin, output: stderr, signal: stopping };
  const ask = async <T>(question: (prompts: typeof Prompts) => Promise<T>): Promise<T> => {
    try {
      return await question(await import('@inquirer/prompts'));
    } catch (error) {
      throw isInterruption(error) ? new InterruptedError() : error;
    }
  };
  return {
    text: (message, usual) =>
      ask(({ input }) => input({ message, theme, ...(usual !== undefined && { default: usual }) }, io)),
    secret: (message) => ask(({ password }) => password({ message, theme, mask: '*' }, io)),
    choose: (message, choices) =>
      ask(({ search }) =>
        search({ message, theme, source: (typed) => named(matching(choices, typed ?? '')), pageSize: 10 }, io),
      ),
    confirm: (message) => ask(({ confirm }) => confirm({ message, default: true }, io)),
    object: (why) => void stderr.write(`  ${why}\n`),
  };
}

function named(choices: readonly Choice[]): { value: string; name: string }[] {
  return choices.map(({ value, label }) => ({ value, name: label }));
}

/** Whether an error is due to Ctrl-C, a signal or the end of the input. */
function isInterruption(error: unknown): boolean {
  return error instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(error.name);
}

/**
 * Chooses how to ask on the shell's terminal; null without a terminal. Questions go to stderr because stdout is for
 * data. On a terminal that cannot move its cursor, questions are asked line by line.
 */
export function questionsOf(shell: Shell): Questions | null {
  if (!shell.stdin.isTTY || !shell.stderr.isTTY) return null;
  return shell.env['TERM'] === 'dumb' ? plainQuestions(shell) : richQuestions(shell);
}
