import type * as Prompts from '@inquirer/prompts';
import type { Shell } from '../shell.ts';
import { InterruptedError, matching } from './questions.ts';
import type { Choice, Questions } from './questions.ts';

/** Questions for a terminal: the list becomes shorter while a person types. The library is loaded with the first question. */
export function richQuestions({ stdin, stderr, stopping }: Shell): Questions {
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
      ask(({ input }) => input({ message, ...(usual !== undefined && { default: usual }) }, io)),
    secret: (message) => ask(({ password }) => password({ message, mask: '*' }, io)),
    choose: (message, choices) =>
      ask(({ search }) =>
        search({ message, source: (typed) => named(matching(choices, typed ?? '')), pageSize: 10 }, io),
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
