import { expect, test } from 'vitest';
import { isAsShown, stepsOf } from './page-steps.ts';

test('a step is a block of commands, with what is shown after it', () => {
  const page = '# A page\n\n```sh\nls\n```\n\n```sh\ncat a\n```\n\nIt says:\n\n```text\nA\n```\n\n```js\n1\n```\n';
  expect(stepsOf(page)).toEqual([
    { line: 3, commands: 'ls\n', shown: undefined },
    { line: 7, commands: 'cat a\n', shown: { language: 'text', text: 'A\n', line: 13 } },
  ]);
});

test.each([
  ['json', '{"a": "x…", "b": [1,\n  …]}', '{"a":"xyz","b":[1,2,{"c":3}]}', true],
  ['json', '{"a": "x…", "b": 1}', '{"a":"xyz","c":"","b":1}', false],
  ['json', '{"a": "x y"}', '{"a":"xy"}', false],
  ['json', '{"a": 1}', '{"a":1,"b":2}', false],
  ['json', '{"a": 1}', '{"a":2}', false],
  ['json', '{"a": "1.2"}', '{"a":"112"}', false],
  ['text', 'one … three', '  one two three\n', true],
  ['text', 'one\n…\nfour', 'one\ntwo\nthree\nfour\n', true],
  ['text', 'one\n…\nfour', 'one\nfour\n', true],
  ['text', 'one … three', 'one two\nthree\n', false],
  ['text', 'one', 'one\ntwo\n', false],
])('%s %j and %j: %s', (language, text, output, expected) => {
  expect(isAsShown(output, { language, text })).toBe(expected);
});

test('where nothing is shown there is nothing', () => {
  expect(isAsShown('\n', undefined)).toBe(true);
  expect(isAsShown('curl: (52) Empty reply from server\n', undefined)).toBe(false);
});
