/** A range of bytes in a file, excluding `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Merges a range into disjoint, sorted ranges. */
export function withRange(ranges: readonly ByteRange[], added: ByteRange): ByteRange[] {
  const before = ranges.filter((range) => range.end < added.start);
  const after = ranges.filter((range) => range.start > added.end);
  const touched = ranges.slice(before.length, ranges.length - after.length);
  const merged = {
    start: Math.min(added.start, ...touched.map((range) => range.start)),
    end: Math.max(added.end, ...touched.map((range) => range.end)),
  };
  return [...before, merged, ...after];
}

export function lengthOf(ranges: readonly ByteRange[]): number {
  return ranges.reduce((sum, range) => sum + range.end - range.start, 0);
}
