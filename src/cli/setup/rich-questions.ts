import { styleText } from 'node:util';
import type * as Prompts from '@inquirer/prompts';
import type { Shell } from '../shell.ts';
import { InterruptedError, matching } from './questions.ts';
import type { Choice, Questions } from './questions.ts';

/** Questions for a terminal: the list becomes shorter while a person types. The library is loaded with the first question. */
export function richQuestions({ stdin, stderr, stopping }: Shell): Questions {
  // No green tick after Enter: only then the answer is checked, and it may be refused.
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

/** Ctrl-C, a signal, and the end of the input. */
function isInterruption(error: unknown): boolean {
  return error instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(error.name);
}
