import { addressOf } from '@dropcast/pages';
import type { Daemon } from '../../../daemon/daemon.ts';
import { type FileQuery, queryWords } from '../../../view/files/query.ts';

/** Reads the file filters from an address. */
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

/**
 * Returns channels that files can be sent to: the service's, or until it lists them, those of the rules and of files.
 */
export async function channelsToChoose({ conductor, config, ledger }: Daemon): Promise<readonly string[]> {
  const { names } = conductor;
  const known = names.known();
  if (known !== null) return known.channel.toSorted();
  const unknown = new Set(names.unknown().flatMap(({ kind, name }) => (kind === 'channel' ? [name] : [])));
  const seen = (await ledger.selection.facets({})).channels.map(({ value }) => value);
  const ruled = config().folders.flatMap(({ rules }) => rules.map(({ channel }) => channel));
  return [...new Set([...ruled, ...seen])].filter((name) => !unknown.has(name)).toSorted();
}
