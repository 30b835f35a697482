import { expect, test } from 'vitest';
import { refusedBecause } from '../../src/watch/refused-because.ts';

test('a folder that is closed comes with what opens it', () => {
  expect(refusedBecause('it cannot be read', 'EACCES')).toMatch(
    /^it cannot be read \(EACCES\): .*group.*access control list/,
  );
});

test('what nobody can help with so is only said', () => {
  expect(refusedBecause('it cannot be reached', 'ESTALE')).toBe('it cannot be reached (ESTALE)');
});
