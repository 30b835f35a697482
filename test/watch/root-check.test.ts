import { expect, test } from 'vitest';
import { whyRefused } from '../../src/watch/root-check.ts';

test('a folder that is closed comes with what opens it', () => {
  expect(whyRefused('it cannot be read', 'EACCES')).toMatch(
    /^it cannot be read \(EACCES\): .*group.*access control list/,
  );
});

test('what nobody can help with so is only said', () => {
  expect(whyRefused('it cannot be reached', 'ESTALE')).toBe('it cannot be reached (ESTALE)');
});
