import type { Json } from '../running-sandbox.ts';

/** The headers that the answer to a creation names for its upload; null: it names none. */
export function toldHeaders({ upload_headers: one, required_headers: other, headers: list }: Json): Headers | null {
  const pairs = (list as { readonly name: string; readonly value: string }[] | undefined)?.map(
    ({ name, value }): [string, string] => [name, value],
  );
  const told = one ?? other ?? pairs;
  return told === undefined ? null : new Headers(told);
}
