import { expect, test } from 'vitest';
import { permanentLine, visible } from '../../../src/cli/output/visible.ts';

test('what would act on a terminal is shown', () => {
  expect(visible('a\nb\u{1B}]0;title\u{7}\u202Ec')).toBe(String.raw`a\nb\x1b]0;title\x07\u202ec`);
});

test('emoji, combining marks and other scripts stay', () => {
  expect(visible('👩‍👩‍👧 e\u0301 日本')).toBe('👩‍👩‍👧 e\u0301 日本');
});

test('colours of our own stay and end with the line, all else is shown', () => {
  expect(permanentLine('\u{1B}[31mred\u{1B}[2Jx\n')).toBe(`\u{1B}[31mred${String.raw`\x1b[2J`}x\u{1B}[0m`);
  expect(permanentLine('plain')).toBe('plain');
});
