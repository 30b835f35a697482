import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lengthOf, withRange, type ByteRange } from '../../../packages/sandbox/src/analytics/read-plays.ts';

const aRange = fc
  .tuple(fc.nat(40), fc.integer({ min: 1, max: 12 }))
  .map(([start, length]) => ({ start, end: start + length }));

test('ranges hold every byte that was added, once, sorted and with gaps between them', () => {
  fc.assert(
    fc.property(fc.array(aRange, { maxLength: 20 }), (added) => {
      const ranges = added.reduce<ByteRange[]>(withRange, []);
      const bytes = new Set(added.flatMap(bytesOf));
      expect(ranges.flatMap(bytesOf)).toEqual([...bytes].sort((a, b) => a - b));
      expect(lengthOf(ranges)).toBe(bytes.size);
      for (const [index, range] of ranges.entries()) expect(range.start).toBeGreaterThan(ranges[index - 1]?.end ?? -1);
    }),
  );
});

function bytesOf({ start, end }: ByteRange): number[] {
  return Array.from({ length: end - start }, (_, index) => start + index);
}
