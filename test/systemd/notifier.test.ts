import { expect, test } from 'vitest';
import { textOf } from '../../src/systemd/notifier.ts';

test('each assignment is a line', () => {
  expect(textOf({ READY: '1', STATUS: 'Idle · 120 done' })).toBe('READY=1\nSTATUS=Idle · 120 done');
});

test.for([
  ['a line break', 'a\nWATCHDOG=trigger\r\nREADY=1', 'a WATCHDOG=trigger  READY=1'],
  ['a separator of lines or paragraphs', 'a\u2028b\u2029c', 'a b c'],
  ['colours of a terminal', 'a\u001B[31mred\u009Bm', 'a [31mred m'],
  ['NUL and DEL', 'a\0b\u007Fc', 'a b c'],
  ['text that runs backwards', 'a\u202Egpm.exe\u2066', 'a gpm.exe '],
  ['half a surrogate pair', 'a\uD800b', 'a b'],
])('%s cannot act', ([, value, shown]) => {
  expect(textOf({ STATUS: value ?? '' })).toBe(`STATUS=${shown}`);
});

test('letters of any script stay', () => {
  expect(textOf({ STATUS: 'Müller · 映画 · فيلم · 🎬' })).toBe('STATUS=Müller · 映画 · فيلم · 🎬');
});

test('a long value is cut between two characters, far below the 4096 bytes that systemd reads', () => {
  const text = textOf({ STATUS: '🎬'.repeat(5_000) });
  expect(text).toBe(`STATUS=${'🎬'.repeat(299)}…`);
  expect(Buffer.byteLength(text)).toBeLessThan(2_000);
});
