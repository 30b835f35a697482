import type { Violation } from '../simulation/judge.ts';
import type { Snapshot } from './snapshot.ts';

/** Where two snapshots first differ, part by part. */
export function differencesOf(inFile: Snapshot, shared: Snapshot): readonly Violation[] {
  const parts = [...new Set([...Object.keys(inFile), ...Object.keys(shared)])];
  return parts.flatMap((part) => {
    const [left = [], right = []] = [inFile[part], shared[part]];
    const at = Array.from({ length: Math.max(left.length, right.length) }, (_, n) => n).find(
      (n) => left[n] !== right[n],
    );
    if (at === undefined) return [];
    return [{ invariant: 'same', found: `${part} ${at}:\n  SQLite     ${left[at]}\n  PostgreSQL ${right[at]}` }];
  });
}
