import { addressOf } from '@dropcast/pages';
import { queryWords } from '../../../view/files/query.ts';
import type { FileQuery } from '../../../view/files/query.ts';

/** The words of an address that select files. */
export function queryOf(asked: URLSearchParams): FileQuery {
  return Object.fromEntries(queryWords.map((word) => [word, asked.get(word) ?? undefined]));
}

export function filesAddress(query: FileQuery, place: Readonly<Record<string, string | undefined>> = {}): string {
  const words = addressOf({ ...query, ...place });
  return words === '?' ? '/files' : `/files${words}`;
}

export function fileAddress(id: string): string {
  return `/files/${encodeURIComponent(id)}`;
}

/** @param path absolute */
export function settlingAddress(path: string): string {
  return `/files/settling${addressOf({ path })}`;
}
