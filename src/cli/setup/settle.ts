import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { InterruptedError } from './questions.ts';
import type { Questions } from './questions.ts';
import type { Checked } from './service-answers.ts';

export interface Settling<T> {
  ask(questions: Questions): Promise<string>;
  check(text: string): Promise<Checked<T>>;
}

export type Settle = <T>(flag: string, given: string | undefined, how: Settling<T>) => Promise<T>;

/**
 * Makes answers: a flag counts, and what is none is asked for until it can be used.
 *
 * @param questions null where nobody can be asked
 */
export function settler({ stopping }: Pick<Shell, 'stopping'>, questions: Questions | null): Settle {
  return async (flag, given, { ask, check }) => {
    const checked = async (text: string): ReturnType<typeof check> => {
      const result = await check(text);
      if (stopping.aborted) throw new InterruptedError();
      return result;
    };
    if (given !== undefined) {
      const result = await checked(given);
      if (result.ok) return result.value;
      throw new CommandError(`${flag}: ${result.why}`, exitCodes.failed);
    }
    for (;;) {
      if (questions === null) throw new CommandError(`${flag} is missing`, exitCodes.usage);
      const result = await checked(await ask(questions));
      if (result.ok) return result.value;
      questions.object(result.why);
    }
  };
}
