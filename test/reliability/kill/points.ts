import { createHash } from 'node:crypto';
import type { Plan, Trace } from './shim.ts';

/** A place in a run where something happens: `before/137`. */
export type Point = Pick<Plan, 'action' | 'at' | 'only'>;

/** Every kill that a run offers: before and after each call, and in the middle of each that sends bytes. */
export function killPoints({ calls }: Trace): readonly Point[] {
  return calls.flatMap((call, n) => [
    { action: 'before' as const, at: n + 1 },
    { action: 'after' as const, at: n + 1 },
    ...(/^(?:write|send|copy) /.test(call) ? [{ action: 'tear' as const, at: n + 1 }] : []),
  ]);
}

/** Every error that a run offers: each call with each errno that it may have. */
export function errorPoints({ calls }: Trace): readonly Point[] {
  return calls.flatMap((call, n) => errnosOf(call.split(' ')[0] ?? '').map((action) => ({ action, at: n + 1 })));
}

function errnosOf(call: string): readonly Plan['action'][] {
  if (call === 'open') return ['EMFILE', 'EACCES', 'EIO'];
  if (call === 'create' || call === 'mkdir') return ['EMFILE', 'EACCES', 'ENOSPC', 'EIO'];
  if (call === 'read' || call === 'fsync') return ['EIO'];
  if (call === 'write' || call === 'truncate' || call === 'copy') return ['EIO', 'ENOSPC'];
  return ['EIO', 'EACCES', 'ENOSPC'];
}

/**
 * Leaves out what repeats: of many equal calls in a row (the pages of one transaction) the first, one in the middle and the last.
 */
export function distinctCalls({ calls, ...trace }: Trace): ReadonlySet<number> {
  const kept = new Set<number>();
  for (let from = 0; from < calls.length;) {
    let to = from;
    while (calls[to + 1] === calls[from]) to += 1;
    for (const n of [from, (from + to) >> 1, to]) kept.add(n + 1);
    from = to + 1;
  }
  return trace.count === 0 ? new Set() : kept;
}

/** The same seed takes the same points of the same run. */
export function sample<T>(all: readonly T[], count: number, seed: string): readonly T[] {
  const rank = (n: number): string => createHash('sha256').update(`${seed}/${n}`).digest('hex');
  return all
    .map((one, n) => ({ one, rank: rank(n) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, count)
    .map(({ one }) => one);
}
