import { expect, test } from 'vitest';
import { openDatabase } from '../../../packages/sandbox/src/store/database.ts';
import { KeyStore } from '../../../packages/sandbox/src/store/keys.ts';

const made = (value: string, name = value) => ({ value, name, isReadOnly: false });

test('5.4, 5.6 a revoked key is not found, and the others are not affected; adding it again does not revive it', () => {
  const keys = new KeyStore(openDatabase(':memory:'));
  keys.add(made('one'), 0);
  keys.add(made('two'), 0);
  expect([keys.revoke(1, 5), keys.revoke(1, 6), keys.revoke(9, 6)]).toEqual([true, false, false]);
  expect(keys.add(made('one', 'again'), 2)).toMatchObject({ id: 1, name: 'one', revokedAtMs: 5 });
  expect(keys.find('one')).toBeUndefined();
  expect(keys.find('two')).toEqual({ id: 2, isReadOnly: false });
  expect(keys.find('TWO')).toBeUndefined();
});

test('5.4 each use is audited, for its key alone', () => {
  const keys = new KeyStore(openDatabase(':memory:'));
  for (const value of ['one', 'two']) keys.add(made(value), 0);
  keys.noteUse(2, 7, '127.0.0.1');
  keys.noteUse(2, 9, '::1');
  expect(keys.list()).toMatchObject([
    { useCount: 0, lastUsedAtMs: null, lastUsedFrom: null },
    { useCount: 2, lastUsedAtMs: 9, lastUsedFrom: '::1' },
  ]);
});

test.each([
  [`sk_sandbox_${'a1b2c3d4'.repeat(4)}`, 'sk_sandbox_a1b2'],
  ['a-key-of-mine-20-long', 'a-key'],
  ['KEY', ''],
])('5.3 the key %s is shown only as %s', (value, hint) => {
  expect(new KeyStore(openDatabase(':memory:')).add(made(value), 0).hint).toBe(hint);
});
