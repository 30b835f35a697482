import { CommandError, exitCodes } from '../shell.ts';

/** One of several things to choose from. */
export interface Choice {
  readonly value: string;
  /** For a line of a terminal: nothing in it moves the cursor. */
  readonly label: string;
}

/** Asks a person. */
export interface Questions {
  /** A line of text. @param usual what Enter alone means */
  text(question: string, usual?: string): Promise<string>;
  /** A line that is not shown. */
  secret(question: string): Promise<string>;
  /** One of a list that typing filters. */
  choose(question: string, choices: readonly Choice[]): Promise<string>;
  confirm(question: string): Promise<boolean>;
  /** Says what is wrong with an answer, before it is asked for again. */
  object(why: string): void;
}

/** Those whose label or value contains what was typed, whatever its case. */
export function matching(choices: readonly Choice[], typed: string): readonly Choice[] {
  const wanted = typed.trim().toLowerCase();
  return choices.filter(({ label, value }) => `${label}\n${value}`.toLowerCase().includes(wanted));
}

/** Thrown by a question when Ctrl-C, a signal or the end of the input comes instead of an answer. */
export class InterruptedError extends CommandError {
  constructor() {
    super('stopped', exitCodes.failed);
  }
}
