import { expect, test } from 'vitest';
import { mistakesAsText } from '../../../packages/sandbox/src/http/input.ts';
import { verification } from '../../../packages/sandbox/src/inspector/expectation.ts';

const said = (given: unknown) => {
  const { error } = verification.safeParse(given);
  return error ? mistakesAsText(error, 'body') : '';
};
const one = (expectation: unknown) => said({ expectations: [{ request: {} }, expectation] });

test.each<[unknown, RegExp]>([
  [
    { request: { operation: 'videos.creat' } },
    /^expectations\.1\.request\.operation: must be an operation or a list of them: videos\.list, /,
  ],
  [{ request: { method: 'post' } }, /^expectations\.1\.request\.method: must be a method in capitals/],
  [{ request: { status: 99 } }, /^expectations\.1\.request\.status: must be a status like 404/],
  [{ request: { status: ['4xx', '9xx'] } }, /^expectations\.1\.request\.status: /],
  [
    { request: { fault: 'odd' } },
    /^expectations\.1\.request\.fault: must be true, false or a kind of fault \(status, /,
  ],
  [
    { request: { body: { title: { $like: 1 } } } },
    /^expectations\.1\.request\.body\.title\.\$like: must be a string\./,
  ],
  [{ request: { query: { page: { $odd: 1 } } } }, /^expectations\.1\.request\.query\.page\.\$odd: must be one of/],
  [{ request: { headers: ['x'] } }, /^expectations\.1\.request\.headers: must be an object/],
  [{ request: { titel: 'x' } }, /^expectations\.1\.request has the unknown field "titel"\./],
  [{ request: 'videos.create' }, /^expectations\.1\.request: must be an object that says which requests are meant/],
  [{}, /^expectations\.1\.request: must be an object/],
  [{ request: {}, exactly: -1 }, /^expectations\.1\.exactly: must be a whole number/],
  [
    { request: {}, exactly: 1, at_least: 1 },
    /^expectations\.1: must have either exactly, or at_least and at_most, or never\./,
  ],
  [{ request: {}, at_least: 2, at_most: 1 }, /^expectations\.1: at_least must not be above at_most\./],
  [{ request: {}, never: false }, /^expectations\.1\.never: must be true, or left out\./],
  [{ request: {}, never: true, before: {} }, /^expectations\.1: never goes with within/],
  [{ request: {}, before: 'the PUT' }, /^expectations\.1\.before: no expectation has the name "the PUT"\./],
  [{ name: 'me', request: {}, after: 'me' }, /^expectations\.1\.after: must not refer to the expectation itself\./],
  [{ request: {}, before: { operation: 'odd' } }, /^expectations\.1\.before\.operation: must be an operation/],
  [{ request: {}, before: { odd: 1 } }, /^expectations\.1\.before: has the unknown field "odd"\./],
  [{ request: {}, within: {} }, /^expectations\.1: within must have after or before\./],
  [{ request: {}, within: { after: 7 } }, /^expectations\.1\.within\.after: must be an object/],
])('%j is refused, with the place of the mistake', (expectation, message) => {
  expect(one(expectation)).toMatch(message);
});

test('mistakes of the whole are refused too', () => {
  expect(said({ expectations: [] })).toMatch(/^expectations: must not be empty/);
  expect(said({ expectations: [], only: true })).toBe('');
  expect(
    said({
      expectations: [
        { name: 'a', request: {} },
        { name: 'a', request: {} },
      ],
    }),
  ).toMatch(/^expectations\.1\.name: is the name of another/);
  expect(said({ expectations: [{ request: {} }], refuse: true })).toMatch(/unknown field "refuse"/);
  expect(said([])).not.toBe('');
  expect(said({ expectations: {} })).toMatch(/must be a list/);
});
