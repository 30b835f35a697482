import { expect, it } from 'vitest';
import { formatKeyPath, parseKeyPath, quote } from '../../src/config/key-path.ts';

it.each([
  [[], ''],
  [['service'], 'service'],
  [['folders', 0, 'rules', 12, 'tags', 3], 'folders[0].rules[12].tags[3]'],
  [['folders', 0, 'after_ready', 'move'], 'folders[0].after_ready.move'],
])('writes and reads %j', (path, key) => {
  expect(formatKeyPath(path)).toBe(key);
  expect(parseKeyPath(key)).toEqual(path);
});

it('quotes a key that is no plain word', () => {
  expect(formatKeyPath(['a', 'b.c', ''])).toBe('a["b.c"][""]');
});

it('shows control and direction characters and cuts what is long', () => {
  expect(quote('a\u001b[2J"\\\u202e\n')).toBe(String.raw`"a\u{1b}[2J\"\\\u{202e}\u{a}"`);
  expect(quote('x'.repeat(1000))).toBe(`"${'x'.repeat(40)}…"`);
});
