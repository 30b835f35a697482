import { createHash } from 'node:crypto';
import type { Facts } from '../../pipeline/file/facts.ts';
import { bigBytes, priorities, priorityOf } from '../../pipeline/file/queue.ts';
import { causeKey } from '../../pipeline/file/selection.ts';
import type { Value } from '../../ledger/work.ts';
import { storable } from './statement.ts';

/** Columns in the table of files. */
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
 * Pure: values inside other columns by which files are found. SQLite has expressions with indexes for them. PostgreSQL
 * would refuse a row whose JSON has a NUL in a text, which a service may send.
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
    // Only rows in a ledger file have one.
    checksum: null,
  };
}

/** `mkv`; empty for a name without one, or with an unlikely one. */
function extensionOf(path: string): string {
  const dot = path.lastIndexOf('.');
  const ending = dot === -1 ? '' : path.slice(dot + 1);
  return /^[a-zA-Z0-9]{0,8}$/.test(ending) ? ending.toLowerCase() : '';
}

/** In bytes. An entry of a btree may have 2,704, and has two of these. */
const longest = 1_000;

/**
 * Pure: the key of a text in an index. A short text is its own key. The key of a long one consists of its beginning,
 * which gives the order, and a hash of all of it, and is longer than any short key
 * ([why](../../../docs/decisions/0072-one-text-for-two-stores.md)).
 */
export function keyOf(text: string): string {
  const whole = storable(text);
  const start = startOf(whole);
  return start === whole ? whole : `${start}${createHash('sha256').update(whole).digest('hex')}`;
}

/** The part of a text with which its key begins. */
export function startOf(text: string): string {
  // A character takes three bytes at most, or four for two.
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
