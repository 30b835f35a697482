import fc from 'fast-check';
import { expect, test } from 'vitest';
import { differencesOf, mistakesIn, type Pattern } from '../../../packages/sandbox/src/inspector/pattern.ts';

const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Pattern>;
/** No name of an operator in it. */
const plain = json.filter((value) => !JSON.stringify(value).includes('"$'));
const differences = (pattern: Pattern, value: unknown) => differencesOf(pattern, value, 'body');

test('every value fits itself, and itself with more fields', () => {
  fc.assert(fc.property(plain, (value) => differences(value, value).length === 0));
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string().filter((name) => !name.startsWith('$')),
        plain,
      ),
      (fields) => differences(fields, { ...fields, more: 1, ...fields }).length === 0,
    ),
  );
});

test('a value fits what is exactly it, and nothing else', () => {
  fc.assert(
    fc.property(
      json,
      json,
      (one, other) =>
        (differences({ $equals: one }, other).length === 0) ===
        (JSON.stringify(one) === JSON.stringify(other) || differences({ $equals: other }, one).length === 0),
    ),
  );
  expect(differences({ $equals: { a: 1 } }, { a: 1, b: 2 })).toHaveLength(1);
});

test('not is the contrary', () => {
  fc.assert(
    fc.property(
      plain,
      plain,
      (pattern, value) =>
        (differences({ $not: pattern }, value).length === 0) !== (differences(pattern, value).length === 0),
    ),
  );
});

test('any two values are compared without an error, and every difference has a place', () => {
  fc.assert(
    fc.property(json, json, (pattern, value) => {
      if (mistakesIn(pattern).length > 0) return;
      for (const difference of differences(pattern, value)) expect(difference).toMatch(/^body/);
    }),
  );
});

test.each<[Pattern, unknown, string[]]>([
  [{ title: 'X' }, { title: 'Y', more: 1 }, ['body.title is "Y", not "X"']],
  [{ title: 'X' }, {}, ['body.title is missing, not "X"']],
  [{ a: { b: 1 } }, { a: 2 }, ['body.a is 2, not an object']],
  [{ tags: ['a', 'b'] }, { tags: ['a'] }, ['body.tags has 1 items, not 2']],
  [{ tags: ['a', 'b'] }, { tags: ['a', 'c'] }, ['body.tags[1] is "c", not "b"']],
  [{ title: { $contains: 'ne' } }, { title: 'news' }, []],
  [{ title: { $contains: 'x' } }, { title: 'news' }, ['body.title is "news", which does not contain "x"']],
  [{ tags: { $contains: 'a' } }, { tags: ['b', 'a'] }, []],
  [{ title: { $like: 'N?ws*' } }, { title: 'News at 9' }, []],
  [{ title: { $like: 'N' } }, { title: 1 }, ['body.title is 1, which is not like "N"']],
  [{ title: { $present: false } }, { title: 1 }, ['body.title is 1, but should be missing']],
  [{ title: { $present: true } }, {}, ['body.title is missing']],
  [{ a: { $one_of: [1, { $like: 'x*' }] } }, { a: 'xy' }, []],
  [{ a: { $one_of: [1, 2] } }, { a: 3 }, ['body.a is 3, none of 1, 2']],
  [null, undefined, ['body is missing, not null']],
  [{ a: 1 }, { a: '\u001b[2J\u202e\u0085' }, [String.raw`body.a is "\u001b[2J\u202e\u0085", not 1`]],
  [{ toString: { $present: false } }, {}, []],
])('%j and %j: %j', (pattern, value, says) => {
  expect(differences(pattern, value)).toEqual(says);
});

test.each<[unknown, (string | number)[], RegExp]>([
  [{ a: [{ $like: 1 }] }, ['a', 0, '$like'], /string/],
  [{ $regex: 'x' }, ['$regex'], /one of \$contains/],
  [{ $like: 'x', b: 1 }, [], /both \$like/],
  [{ $one_of: [] }, ['$one_of'], /list/],
  [{ $present: 1 }, ['$present'], /true or false/],
  [{ $not: { $like: 1 } }, ['$not', '$like'], /string/],
  [JSON.parse('['.repeat(50) + ']'.repeat(50)), [], /32 levels/],
])('%j is refused with its place', (pattern, path, message) => {
  expect(mistakesIn(pattern)).toMatchObject([{ path, message: expect.stringMatching(message) }]);
});

test('what $equals wants is not looked into', () => {
  expect(mistakesIn({ $equals: { $odd: 1 } })).toEqual([]);
});
