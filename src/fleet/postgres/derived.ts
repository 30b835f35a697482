import { createHash } from 'node:crypto';
import type { Facts } from '../../pipeline/file/facts.ts';
import { bigBytes, priorities, priorityOf } from '../../pipeline/file/queue.ts';
import { causeKey } from '../../pipeline/file/selection.ts';
import type { Value } from '../../ledger/work.ts';
import { storable } from './statement.ts';

/** Columns of the file table that are derived from other columns. */
export const derivedColumns = [
  'folder_key',
  'path_key',
  'queue',
  'channel',
  'feeds',
  'title',
  'code',
  'kind',
  'cause',
  'extension',
  'twin',
  'likeness',
  'missing_feed',
  'over_kind',
  'due_at',
  'when_full',
] as const;

/**
 * Returns values inside other columns that files are searched by. Pure. SQLite indexes expressions instead; PostgreSQL
 * would reject a row whose JSON has a NUL in a text, which a service may send.
 */
export function derivedOf(facts: Facts): Readonly<Record<(typeof derivedColumns)[number] | 'checksum', Value>> {
  const { folder, path, plan, version, lastFailure, afterReady, endedAt } = facts;
  const cause = causeKey(facts);
  const later = 'later' in afterReady ? (afterReady.later ?? null) : null;
  const afterMs = later?.afterMs ?? null;
  return {
    folder_key: keyOf(folder),
    path_key: keyOf(path),
    queue: `${priorities.indexOf(priorityOf(plan))}${version.size > bigBytes ? 1 : 0}${keyOf(folder)}`,
    channel: plan?.channel ?? null,
    feeds: plan === null ? null : JSON.stringify(plan.publish),
    title: plan?.title ?? null,
    code: lastFailure?.code ?? null,
    kind: lastFailure?.kind ?? null,
    cause: cause === null ? null : startOf(cause),
    extension: extensionOf(path),
    twin: lastFailure?.twin ?? null,
    likeness: lastFailure?.likeness === undefined ? null : JSON.stringify(lastFailure.likeness),
    missing_feed: lastFailure?.feed ?? null,
    over_kind: lastFailure?.over?.kind ?? null,
    due_at: endedAt === null || afterMs === null ? null : endedAt + afterMs,
    when_full: later?.whenFull ?? null,
    // Only rows in a ledger file have a checksum.
    checksum: null,
  };
}

/** Returns the extension, such as `mkv`; empty if there is none, or an unlikely one. */
function extensionOf(path: string): string {
  const dot = path.lastIndexOf('.');
  const ending = dot === -1 ? '' : path.slice(dot + 1);
  return /^[a-zA-Z0-9]{0,8}$/.test(ending) ? ending.toLowerCase() : '';
}

/** Longest text that is its own key, in bytes. A B-tree entry may have 2,704 bytes, and contains two keys. */
const longest = 1_000;

/**
 * Returns the index key for a text. Pure. A short text is its own key. The key for a long text is its beginning, which
 * gives the order, and a hash of the whole text; it is longer than any short key
 * ([why](../../../docs/decisions/0072-one-text-for-two-stores.md)).
 */
export function keyOf(text: string): string {
  const whole = storable(text);
  const start = startOf(whole);
  return start === whole ? whole : `${start}${createHash('sha256').update(whole).digest('hex')}`;
}

/** Returns the part of a text that its key begins with. */
export function startOf(text: string): string {
  // A UTF-16 unit takes at most three bytes in UTF-8; a surrogate pair takes four.
  if (text.length * 3 <= longest) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= longest) return text;
  let end = longest;
  while (isInsideLetter(bytes.readUInt8(end))) end -= 1;
  return bytes.toString('utf8', 0, end);
}

function isInsideLetter(byte: number): boolean {
  return (byte & 0b1100_0000) === 0b1000_0000;
}
