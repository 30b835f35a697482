import { array, assert, constantFrom, integer, oneof, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import { cutEnd, cutMiddle, displayWidth, pad } from '../../../src/cli/output/text-width.ts';
import { escapeControls } from '../../../src/log/unsafe-characters.ts';

test('columns are counted as a terminal shows them', () => {
  expect(['abc', '日本', '👩‍👩‍👧', 'e\u0301', '\u{1B}[31mred\u{1B}[39m'].map((text) => displayWidth(text))).toEqual([
    3, 4, 2, 1, 3,
  ]);
});

test('padding fills to the width on the asked side', () => {
  expect([pad('日本', 6), pad('日本', 6, 'right'), pad('long', 2)]).toEqual(['日本  ', '  日本', 'long']);
});

test('texts are cut at the end or in the middle, never inside a character', () => {
  expect(cutEnd('a-long-name.mp4', 8)).toBe('a-long-…');
  expect(cutMiddle('news/2026/11/part-12.mp4', 13)).toBe('news/2…12.mp4');
  expect(cutEnd('日本語', 4)).toBe('日…');
  expect(cutEnd('👩‍👩‍👧👩‍👩‍👧', 3)).toBe('👩‍👩‍👧…');
  expect([cutEnd('abc', 0), cutMiddle('abc', 0), cutEnd('abc', 1), cutMiddle('abc', 1)]).toEqual(['', '', '…', '…']);
});

/** What terminals and libraries measure differently, in any order: flags, joiners, stray marks, Hangul pieces, escape sequences. */
const pieces = '日 👩‍👩‍👧 🇩🇪 e\u0301 \u0301 \u200D \uFE0F \u200F \u202E \u{1B}[31m \u{1B}]8;;x\u{7} ᄒ ᅡ ᆫ ｶﾞ … / a 1'.split(
  ' ',
);
const hostile = array(constantFrom(...pieces), { maxLength: 25 }).map((parts) => escapeControls(parts.join('')));

test('whatever the text, a cut is no wider than requested, and as harmless', () => {
  assert(
    property(
      oneof(string({ unit: 'grapheme' }).map(escapeControls), hostile),
      integer({ min: 0, max: 30 }),
      (text, width) => {
        for (const cut of [cutEnd(text, width), cutMiddle(text, width)]) {
          expect(displayWidth(cut)).toBeLessThanOrEqual(width);
          expect(escapeControls(cut)).toBe(cut);
        }
      },
    ),
    { numRuns: 3_000, examples: [['🇩🇪\u03011\u200F\u200F\\x1b[31m🇩🇪', 9]] },
  );
});
