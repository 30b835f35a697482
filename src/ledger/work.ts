/** A value of a column, as `schema.ts` types them. */
export type Value = string | number | null;

/** A row as stored, unchecked. */
export type StoredRow = Readonly<Record<string, Value>>;

/** One statement: its values replace each `?` of its text. */
export interface Query {
  readonly text: string;
  readonly values: readonly Value[];
  /** Returns nothing, and nothing before the end of the transaction reads it: such statements may run together. */
  readonly isLast?: boolean;
}

/**
 * Statements that belong together, each after the answer to the previous one: the same code for a synchronous store and
 * an asynchronous one. It may run more than once before it commits, so it has no other side effects.
 */
export type Work<T> = Generator<Query, T, readonly StoredRow[]>;

/** Runs one statement. @returns its rows */
export function* ask(text: string, values: readonly Value[] = []): Work<readonly StoredRow[]> {
  return yield { text, values };
}

/** Inserts at the end of the transaction. The text ends with the values in brackets. */
export function* addLast(text: string, values: readonly Value[]): Work<void> {
  yield { text, values, isLast: true };
}

/** Parses a JSON record, which its owner validates. @returns null when the text is damaged */
export function readRecord(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
