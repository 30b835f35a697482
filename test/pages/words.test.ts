import { expect, test } from 'vitest';
import { fileSize, span, visibleLines, visibleText } from '@dropcast/pages';

test.each([
  ['plain <b>text</b>', 'plain <b>text</b>'],
  ['\u0000\u001b[2J\t', '[U+0000][U+001B][2J[U+0009]'],
  ['\u007f\u009b', '[U+007F][U+009B]'],
  ['invoice\u202egpj.exe\u2066', 'invoice[U+202E]gpj.exe[U+2066]'],
  ['שלום \u{1F600} naïve', 'שלום \u{1F600} naïve'],
])('of %j, what could hide is shown', (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

test('several lines stay several lines, with their indentation', () => {
  expect(visibleLines('one\r\ntwo\n\u001bthree\n\t\tfour\r')).toBe('one\ntwo\n[U+001B]three\n\t\tfour[U+000D]');
});

test.each([
  [0, '0 ms'],
  [850.4, '850 ms'],
  [1500, '1.5 s'],
  [59_949, '59.9 s'],
  [60_000, '1 min'],
  [200_000, '3 min 20 s'],
  [7_500_000, '2 h 5 min'],
  [349_200_000, '4 d 1 h'],
])('%d ms are %j', (ms, words) => {
  expect(span(ms)).toBe(words);
});

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [20_480, '20.5 kB'],
  [1_234_567_890, '1.2 GB'],
])('%d bytes are %j', (bytes, words) => {
  expect(fileSize(bytes)).toBe(words);
});
