import type { Query, Value } from '../../ledger/work.ts';

/** A statement in the form of PostgreSQL. */
export interface NumberedStatement {
  readonly text: string;
  readonly values: readonly Value[];
  /** The name under which the server keeps it for repetitions. */
  readonly name?: string;
}

/** Its `?` become `$1`, `$2` and so on. */
export function numbered({ text, values }: Query): NumberedStatement {
  const known = texts.get(text);
  if (known !== undefined) return { ...known, values: values.map(storable) };
  let n = 0;
  const made = { text: text.replaceAll(/'[^']*'|\?/g, (found) => (found === '?' ? `$${(n += 1)}` : found)) };
  const named = texts.size < mostNamed ? { ...made, name: `w${texts.size}` } : made;
  if ('name' in named) texts.set(text, named);
  return { ...named, values: values.map(storable) };
}

/** Combines statements that write one row each into fewer ones, in their order. */
export function inOne(queries: readonly Query[]): readonly NumberedStatement[] {
  const byText = [...Map.groupBy(queries, ({ text }) => text)];
  return byText.map(([text, of]) => {
    const values = of.flatMap((query) => query.values.map(storable));
    const width = values.length / of.length;
    const start = text.slice(0, text.lastIndexOf('('));
    const rows = of.map(
      (_query, row) => `(${Array.from({ length: width }, (_v, n) => `$${row * width + n + 1}`).join()})`,
    );
    return { text: `${start}${rows.join()}`, values };
  });
}

const texts = new Map<string, Omit<NumberedStatement, 'values'>>();

/**
 * The server keeps them for each connection. Rows are updated by their changed columns: each set of columns is a text
 * of its own.
 */
const mostNamed = 300;

/** PostgreSQL stores no NUL, and no half of a surrogate pair. */
export function storable<T>(value: T): T | string {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\uFFFD') : value;
}

/** Removes NULs from every text in a value, at any depth: JSON hides a NUL until it is searched inside. */
export function withoutNul<T>(value: T): T {
  if (!JSON.stringify(value).includes(String.raw`\u0000`)) return value;
  return replaced(value) as T;
}

function replaced(value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  if (Array.isArray(value)) return value.map(replaced);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inside]) => [storable(name), replaced(inside)] as const));
}
