import { expect, it } from 'vitest';
import { formatKeyPath, parseKeyPath } from '../../src/config/raw-tree.ts';

it.each([
  [[], ''],
  [['service'], 'service'],
  [['folders', 0, 'rules', 12, 'tags', 3], 'folders[0].rules[12].tags[3]'],
  [['folders', 0, 'after_ready', 'move'], 'folders[0].after_ready.move'],
])('writes and reads %j', (path, key) => {
  expect(formatKeyPath(path)).toBe(key);
  expect(parseKeyPath(key)).toEqual(path);
});

it('quotes a key that is not a plain word', () => {
  expect(formatKeyPath(['a', 'b.c', ''])).toBe('a["b.c"][""]');
  expect(formatKeyPath(['a\u202e\u200b'])).toBe(String.raw`["a\u202e\u200b"]`);
  expect(formatKeyPath([' '.repeat(1000)])).toBe(`["${' '.repeat(119)}…"]`);
});
