/**
 * Returns whether a JSON value is nested at most `maxDepth` deep. Pure. Works level by level instead of recursively, so
 * that a million brackets do not overflow the stack.
 */
export function isShallow(value: unknown, maxDepth: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) return false;
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return true;
}
