import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/sandbox/store/database.ts';
import { KeyStore } from '../../../src/sandbox/store/keys.ts';

test('5.4, 5.6 a revoked key is not found, and the others are not affected; adding it again does not revive it', () => {
  const database = openDatabase(':memory:');
  const keys = new KeyStore(database);
  keys.add('one', 'first', 0);
  keys.add('two', 'second', 0);
  database.exec("UPDATE api_keys SET revoked_at_ms = 1 WHERE name = 'first'");
  keys.add('one', 'again', 2);
  expect(keys.find('one')).toBeUndefined();
  expect(keys.find('two')).toBe(2);
  expect(keys.find('TWO')).toBeUndefined();
});
