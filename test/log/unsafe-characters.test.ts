import { expect, test } from 'vitest';
import { visibleText } from '@dropcast/pages';
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
  ['a tag', 'a\u{E0041}b', String.raw`a\udb40\udc41b`],
  ['the end of a flag without its flag', 'a\u{E007F}b', String.raw`a\udb40\udc7fb`],
  ['a Hangul filler', 'a\u3164b', String.raw`a\u3164b`],
  ['half of a Hangul filler', 'a\uFFA0b', String.raw`a\uffa0b`],
  ['a blank Braille cell', 'a\u2800b', String.raw`a\u2800b`],
  ['a musical note without a head', 'a\u{1D159}b', String.raw`a\ud834\udd59b`],
  ['a grapheme joiner', 'a\u034Fb', String.raw`a\u034fb`],
  ['a joiner between Latin letters', 'a\u200Db', String.raw`a\u200db`],
  ['a variation selector after a Latin letter', 'a\uFE0Fb', String.raw`a\ufe0fb`],
  ['an ideographic selector after a Latin letter', 'a\u{E0101}b', String.raw`a\udb40\udd01b`],
  ['a second variation selector', '❤\uFE0F\uFE0F', '❤\uFE0F' + String.raw`\ufe0f`],
  ['a mark for right to left in a Latin name', 'news\u200F.mp4', String.raw`news\u200f.mp4`],
])('%s is shown, not acted out', (_, text, shown) => {
  expect(escapeControls(text)).toBe(shown);
});

test('names in other scripts and emoji stay as they are', () => {
  const names = 'Übung 日本語 👩‍👩‍👧 e\u0301 עברית\u200F ❤️‍🔥 1️⃣ ©️ می‌خواهم فيديو (1)\u200E.mp4 葛\u{E0100} 👍🏽 ᠨ\u180B';
  expect(escapeControls(names)).toBe(names);
  expect(visibleText(names)).toBe(names);
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

test('of all invisible characters none is left as it is in a Latin name', () => {
  const invisible = Array.from({ length: 0x11_0000 }, (_, code) => String.fromCodePoint(code)).filter((character) =>
    /\p{Default_Ignorable_Code_Point}/u.test(character),
  );
  const name = invisible.map((character) => `a${character}b`).join('');
  expect(escapeControls(name)).toMatch(/^\p{ASCII}*$/u);
  expect(visibleText(name)).toMatch(/^\p{ASCII}*$/u);
});
