import { CommandError, exitCodes } from '../shell.ts';

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

/** Entries whose label or value contains the typed text, ignoring case. */
export function matching(choices: readonly Choice[], typed: string): readonly Choice[] {
  const wanted = typed.trim().toLowerCase();
  return choices.filter(({ label, value }) => `${label}\n${value}`.toLowerCase().includes(wanted));
}

/** Thrown while asking, after Ctrl-C, a signal or the end of the input. */
export class InterruptedError extends CommandError {
  constructor() {
    super('stopped', exitCodes.failed);
  }
}
