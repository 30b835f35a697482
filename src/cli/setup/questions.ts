import { CommandError, exitCodes } from '../shell.ts';

/** One entry of a list to choose from. */
export interface Choice {
  readonly value: string;
  /** Printable: it contains nothing that moves the cursor. */
  readonly label: string;
}

/** Asks the user. */
export interface Questions {
  /** A line of text. @param usual the answer of an empty line */
  text(question: string, usual?: string): Promise<string>;
  /** A line without echo. */
  secret(question: string): Promise<string>;
  /** One entry of a list that typing filters. */
  choose(question: string, choices: readonly Choice[]): Promise<string>;
  confirm(question: string): Promise<boolean>;
  /** Says why an answer is invalid, before the question is repeated. */
  object(why: string): void;
}

/** Entries whose label or value contains the typed text, in any case. */
export function matching(choices: readonly Choice[], typed: string): readonly Choice[] {
  const wanted = typed.trim().toLowerCase();
  return choices.filter(({ label, value }) => `${label}\n${value}`.toLowerCase().includes(wanted));
}

/** Thrown by a question after Ctrl-C, a signal or the end of the input. */
export class InterruptedError extends CommandError {
  constructor() {
    super('stopped', exitCodes.failed);
  }
}
