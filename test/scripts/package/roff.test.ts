import { expect, test } from 'vitest';
import { item, paragraph, plain, styled, verbatim } from '../../../scripts/package/roff.ts';

test('text cannot become a request, an escape or a typographic sign', () => {
  expect(plain('.TH is \\fB no request')).toBe('\\&.TH is \\efB no request');
  expect(plain("'til -c")).toBe('\\(aqtil \\-c');
  expect(verbatim('.SH\nb')).toContain('\n\\&.SH\nb\n');
});

test('text in backticks is bold, and what the reader replaces is italic', () => {
  expect(paragraph('see `ls`')).toBe('.PP\nsee \\fBls\\fR');
  expect(styled('--config <path>')).toBe('\\fB\\-\\-config \\fR\\fIpath\\fR');
});

test('a line wrapped before a dot is not a request either', () => {
  expect(plain(`${'a '.repeat(38)}b .conf ${'c '.repeat(30)}`)).toContain('\n\\&.conf');
});

test('further explanations stay below their item', () => {
  expect(item('key', 'one', 'two')).toBe('.TP\n\\fBkey\\fR\none\n.IP\ntwo');
});
