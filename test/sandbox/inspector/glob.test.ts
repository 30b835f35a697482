import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLike } from '../../../packages/sandbox/src/inspector/pattern.ts';

test.each([
  ['/v1/videos', '/v1/videos', true],
  ['/v1/videos', '/v1/videos/x', false],
  ['/v1/*', '/v1/videos/x', true],
  ['*', '', true],
  ['?', '', false],
  ['/v1/?ideos', '/v1/videos', true],
  ['*ab*ab', 'abab', true],
  ['*ab*ab', 'aba', false],
  ['', 'x', false],
])('%j and %j: %j', (pattern, text, like) => {
  expect(isLike(pattern, text)).toBe(like);
});

test('is the same as the regular expression', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 });
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '?'), maxLength: 8 });
  fc.assert(
    fc.property(pattern, word, (wanted, text) => {
      const expression = wanted
        .replaceAll('.', String.raw`\.`)
        .replaceAll('*', '.*')
        .replaceAll('?', '.');
      return isLike(wanted, text) === new RegExp(`^${expression}$`).test(text);
    }),
    { numRuns: 2000 },
  );
});

test('many stars do not make it slow', { timeout: 20_000 }, () => {
  expect(isLike('*a'.repeat(250), 'a'.repeat(20_000) + 'b')).toBe(false);
});
