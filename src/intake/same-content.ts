import type { Facts } from '../pipeline/file/facts.ts';
import type { Answer, FileStore } from '../pipeline/file/ports.ts';
import type { Arrival } from './arrival.ts';

/** The SHA-256 (hex) of an accepted file. */
export type Read = (facts: Facts) => Promise<Answer<string>>;

/** A new time alone is no new content: the address of a link tells, else the hash of what was sent. */
export async function compareContent(
  facts: Facts,
  { version, sourceUrl, flaw }: Arrival,
  { read, store }: { readonly read: Read | null; readonly store: Pick<FileStore, 'load'> },
): Promise<'same' | 'other' | 'unread'> {
  if (facts.sourceUrl !== null) return facts.sourceUrl === sourceUrl && flaw === null ? 'same' : 'other';
  if (facts.version.size !== version.size) return 'other';
  const sent = facts.sha256 ?? (await twinOf(facts, store))?.sha256 ?? null;
  if (sent === null) return 'other';
  if (read === null) return 'unread';
  const hash = await read({ ...facts, version });
  if (!hash.ok) return 'unread';
  return hash.value === sent ? 'same' : 'other';
}

/** The file that a duplicate was skipped for. */
async function twinOf({ end, lastFailure }: Facts, store: Pick<FileStore, 'load'>): Promise<Facts | null> {
  return end === 'skipped' && lastFailure?.twin !== undefined ? store.load(lastFailure.twin) : null;
}
