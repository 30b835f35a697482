import { expect, test } from 'vitest';
import { whyRefused } from '../../src/watch/root-check.ts';

test('a folder that is closed comes with what opens it', async () => {
  expect(await whyRefused('/srv', 'it cannot be read', 'EACCES')).toMatch(
    process.geteuid?.() === 0
      ? /^even root may not open the directory \/srv \(EACCES\)/
      : /^user \S+ may not open the directory \/srv \(EACCES\); run `sudo setfacl -m u:\S+:rx -- '\/srv'`$/,
  );
});

test('what nobody can help with so is only said', async () => {
  expect(await whyRefused('/srv', 'it cannot be reached', 'ESTALE')).toBe('it cannot be reached (ESTALE)');
});
