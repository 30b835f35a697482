/** A column value, as typed in `schema.ts`. */
export type Value = string | number | null;

/** A row as stored, unchecked. */
export type StoredRow = Readonly<Record<string, Value>>;

/** One statement; its values replace the `?` placeholders in its text. */
export interface Query {
  readonly text: string;
  readonly values: readonly Value[];
  /**
   * Whether the statement returns nothing, and its effect is not read before the transaction ends. Such statements may
   * run together.
   */
  readonly isLast?: boolean;
}

/**
 * Statements that belong together, each run after the answer to the previous one. The same code works for a synchronous
 * and an asynchronous store. It may run more than once before it commits, so it must have no other side effects.
 */
export type Work<T> = Generator<Query, T, readonly StoredRow[]>;

/** Runs one statement. @returns its rows */
export function* ask(text: string, values: readonly Value[] = []): Work<readonly StoredRow[]> {
  return yield { text, values };
}

/** Inserts a row at the end of the transaction. The text must end with the values in parentheses. */
export function* addLast(text: string, values: readonly Value[]): Work<void> {
  yield { text, values, isLast: true };
}

/** Parses a JSON record, which its owner validates. @returns null if the text is damaged */
export function readRecord(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
