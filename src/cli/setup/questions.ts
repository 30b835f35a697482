import { styleText } from 'node:util';
import type * as Prompts from '@inquirer/prompts';
import { askLine, canAsk } from '../api/confirm.ts';
import { CommandError } from '../shell.ts';
import type { Shell } from '../shell.ts';

/** An entry in a list to choose from. */
export interface Choice {
  readonly value: string;
  /** Printable text without control characters. */
  readonly label: string;
}

/** Ways to ask the user for input. */
export interface Questions {
  /**
   * Asks for a line of text.
   *
   * @param usual the default, used if the line is empty
   */
  text(question: string, usual?: string): Promise<string>;
  /** Asks for a line without echo. */
  secret(question: string): Promise<string>;
  /** Asks for one entry of a list, which the user can filter by typing. */
  choose(question: string, choices: readonly Choice[]): Promise<string>;
  confirm(question: string): Promise<boolean>;
  /** Explains why an answer is invalid, before the question is repeated. */
  object(why: string): void;
}

/** Thrown while asking, after Ctrl-C, a signal or the end of the input. */
export class InterruptedError extends CommandError {
  constructor() {
    super('stopped');
  }
}

/**
 * Chooses how to ask on the shell's terminal; null without a terminal. Questions go to stderr because stdout is for
 * data. On a terminal that cannot move its cursor, questions are asked line by line.
 */
export function questionsOf(shell: Shell): Questions | null {
  if (!canAsk(shell)) return null;
  return shell.env['TERM'] === 'dumb' ? plainQuestions(shell) : richQuestions(shell);
}

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

/** Entries whose label or value contains the typed text, ignoring case. */
export function matching(choices: readonly Choice[], typed: string): readonly Choice[] {
  const wanted = typed.trim().toLowerCase();
  return choices.filter(({ label, value }) => `${label}\n${value}`.toLowerCase().includes(wanted));
}

/** Asks line by line, for a terminal that cannot move its cursor, such as in an editor or over a serial line. */
function plainQuestions(shell: Shell): Questions {
  const { stdin, stderr } = shell;
  const line = async (question: string): Promise<string> => {
    const typed = await askLine(shell, `${question} `);
    // A terminal in raw mode sends Ctrl-C as a character.
    if (typed === null || typed.includes('\u0003')) throw new InterruptedError();
    return typed.trim();
  };
  return {
    text: async (question, usual) => {
      const typed = await line(usual === undefined ? question : `${question} [${usual}]`);
      return typed === '' ? (usual ?? '') : typed;
    },
    secret: async (question) => {
      stdin.setRawMode?.(true);
      try {
        return await line(`${question} (not shown)`);
      } finally {
        stdin.setRawMode?.(false);
        stderr.write('\n');
      }
    },
    choose: (question, choices) => choose(question, choices, { line, say: (text) => void stderr.write(`${text}\n`) }),
    confirm: async (question) => /^(?:y|yes)?$/i.test(await line(`${question} [Y/n]`)),
    object: (why) => void stderr.write(`  ${why}\n`),
  };
}

/** Maximum entries to list, which is what fits on a screen. Typing part of a name shortens the list. */
const mostListed = 20;

async function choose(
  question: string,
  choices: readonly Choice[],
  { line, say }: { line(question: string): Promise<string>; say(text: string): void },
): Promise<string> {
  for (let listed = choices; ;) {
    for (const [index, { label }] of listed.slice(0, mostListed).entries()) say(`  ${index + 1}) ${label}`);
    if (listed.length > mostListed) say(`  and ${listed.length - mostListed} more`);
    const typed = await line(`${question} (number, or a part of the name)`);
    const numbered = /^\d+$/.test(typed) ? listed[Number(typed) - 1] : undefined;
    const found = numbered === undefined ? matching(choices, typed) : [numbered];
    const exact = choices.find(({ value }) => value === typed);
    if (exact !== undefined) return exact.value;
    if (found.length === 1 && found[0] !== undefined) return found[0].value;
    if (found.length === 0) say(`  Nothing has "${typed}" in its name.`);
    else listed = found;
  }
}
