/**
 * Pure: whether a JSON value is nested at most so deep. Level by level and not by recursion: a million brackets must
 * not overflow the stack.
 */
export function isShallow(value: unknown, maxDepth: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) return false;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return true;
}
