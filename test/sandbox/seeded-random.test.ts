import { expect, test } from 'vitest';
import { seededFraction, seededToken } from '../../packages/sandbox/src/seeded-random.ts';

test('the same seed and name give the same value, others another', () => {
  expect(seededToken(1, ['video', 1], 16)).toBe(seededToken(1, ['video', 1], 16));
  const tokens = [seededToken(1, ['video', 1], 16), seededToken(1, ['video', 2], 16), seededToken(2, ['video', 1], 16)];
  expect(new Set(tokens).size).toBe(3);
});

test('names are not glued together', () => {
  expect(seededToken(1, ['a', 'bc'], 16)).not.toBe(seededToken(1, ['ab', 'c'], 16));
});

test('fractions are spread over 0 to 1', () => {
  const fractions = Array.from({ length: 1000 }, (_, index) => seededFraction(1, [index]));
  const mean = fractions.reduce((sum, fraction) => sum + fraction, 0) / fractions.length;
  expect(Math.min(...fractions)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...fractions)).toBeLessThan(1);
  expect(mean).toBeCloseTo(0.5, 1);
});
