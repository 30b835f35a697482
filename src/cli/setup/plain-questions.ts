import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Shell } from '../shell.ts';
import { InterruptedError, matching } from './questions.ts';
import type { Choice, Questions } from './questions.ts';

/** Asks line by line, for a terminal that cannot move its cursor, such as in an editor or over a serial line. */
export function plainQuestions({ stdin, stderr, stopping }: Shell): Questions {
  const line = async (question: string): Promise<string> => {
    stderr.write(`${question} `);
    return (await nextLine(stdin, stopping)).trim();
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

/** @throws {InterruptedError} after Ctrl-C, a signal or the end of the input */
async function nextLine(stdin: NodeJS.ReadStream, stopping: AbortSignal): Promise<string> {
  const reader = createInterface({ input: stdin, terminal: false });
  const stop = (): void => reader.close();
  stopping.addEventListener('abort', stop);
  try {
    const [text] = await Promise.race([
      once(reader, 'line') as Promise<[string]>,
      once(reader, 'close').then(() => [null]),
    ]);
    if (text == null || text.includes('\u0003')) throw new InterruptedError();
    return text;
  } finally {
    stopping.removeEventListener('abort', stop);
    reader.close();
  }
}
