import { expect, test } from 'vitest';
import { indentedJson } from '../../../packages/sandbox/src/page/views/request.ts';

test.each([
  ['{"a":1,"b":[true,null,"x"]}', '{\n  "a": 1,\n  "b": [\n    true,\n    null,\n    "x"\n  ]\n}'],
  ['{"id":12345678901234567890,"rate":1.0e+2}', '{\n  "id": 12345678901234567890,\n  "rate": 1.0e+2\n}'],
  ['{"title":"first","title":"second"}', '{\n  "title": "first",\n  "title": "second"\n}'],
  [String.raw`{"a":"\u0041 \"{[,:]}\" \\"}`, `{\n  "a": ${String.raw`"\u0041 \"{[,:]}\" \\"`}\n}`],
  ['{ "a" : { } , "b" : [ ] }\r\n', '{\n  "a": {},\n  "b": []\n}'],
  ['[[],[{}]]', '[\n  [],\n  [\n    {}\n  ]\n]'],
  ['  "text"  ', '"text"'],
  ['-0', '-0'],
])('%j is indented, and nothing of it is lost', (text, shown) => {
  expect(indentedJson(text)).toBe(shown);
});

test('what JSON.stringify writes comes out as it indents', () => {
  const value = { list: [1, 'two', { three: [] }], nothing: null, deep: { deeper: { deepest: false } } };
  expect(indentedJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
});
