/** A value of a column, as `schema.ts` types them. */
export type Value = string | number | null;

/** A row as it is in its table, whatever is wrong with it. */
export type StoredRow = Readonly<Record<string, Value>>;

/** One statement: its values stand where its text has a `?`. */
export interface Query {
  readonly text: string;
  readonly values: readonly Value[];
  /** It answers nothing, and nobody looks at what it writes before the end of the transaction: there it may be done with others like it. */
  readonly isLast?: boolean;
}

/**
 * Statements that belong together, each after the answer to the one before: one text for a store that answers at once and one that
 * answers later. It may be begun more than once before it counts, so it changes nothing but what it asks for.
 */
export type Work<T> = Generator<Query, T, readonly StoredRow[]>;

/** Asks one statement. @returns its rows; none for one that changes something and returns nothing */
export function* ask(text: string, values: readonly Value[] = []): Work<readonly StoredRow[]> {
  return yield { text, values };
}

/** Writes something at the end of the transaction. Its text ends with the values in brackets. */
export function* addLast(text: string, values: readonly Value[]): Work<void> {
  yield { text, values, isLast: true };
}

/** Reads a value that the ledger keeps as JSON for another part, which checks it. @returns null when the text is damaged */
export function readRecord(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
