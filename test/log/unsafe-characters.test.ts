import { expect, test } from 'vitest';
import { escapeControls, escapeJson, quote } from '../../src/log/unsafe-characters.ts';

test.each([
  ['a newline', 'a\nb', String.raw`a\nb`],
  ['a carriage return', 'a\rb', String.raw`a\rb`],
  ['an ANSI escape', '\u{1B}[31mred', String.raw`\x1b[31mred`],
  ['NUL', 'a\0b', String.raw`a\x00b`],
  ['the one-byte CSI', '\u{9B}2J', String.raw`\x9b2J`],
  ['a line separator', 'a\u2028b', String.raw`a\u2028b`],
  ['a bidirectional override', 'gpj\u202Eexe', String.raw`gpj\u202eexe`],
  ['half of a surrogate pair', 'a\uD83Db', String.raw`a\ud83db`],
])('%s is shown, not acted out', (_, text, shown) => {
  expect(escapeControls(text)).toBe(shown);
});

test('names in other scripts and emoji stay as they are', () => {
  const names = 'Übung 日本語 👩‍👩‍👧 e\u0301 עברית\u200F';
  expect(escapeControls(names)).toBe(names);
});

test('escaped JSON is the same JSON on one line of printable characters', () => {
  const value = { name: 'a\u2028b\u{9B}\u202E\u{7F}\n\0"\\' };
  const json = escapeJson(JSON.stringify(value));
  expect(JSON.parse(json)).toEqual(value);
  expect(json).not.toMatch(/[\p{Cc}\u2028\u202E]/u);
});

test('quoted text cannot leave its quotes', () => {
  expect(quote('a" level="x\n')).toBe(String.raw`"a\" level=\"x\n"`);
});
