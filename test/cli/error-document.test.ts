import { expect, test } from 'vitest';
import { errorDocument, wantsJson } from '../../src/cli/error-document.ts';

test.each([
  [1, 'failed'],
  [2, 'usage'],
  [3, 'not_running'],
  [78, 'bad_config'],
  [99, 'failed'],
])('exit code %i is the error %s', (exit, code) => {
  expect(errorDocument('why', exit)).toEqual({ v: 1, error: { code, message: 'why', exit } });
});

test.each([
  [['ls', '--json'], true],
  [['ls'], false],
  [['show', '--', '--json'], false],
])('%j asks for JSON: %s', (argv, isAsked) => {
  expect(wantsJson(argv)).toBe(isAsked);
});
