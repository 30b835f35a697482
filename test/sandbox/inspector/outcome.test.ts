import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { InspectedRequest } from '../../../packages/sandbox/src/inspector/details.ts';
import type { Expectation, Verification } from '../../../packages/sandbox/src/inspector/expectation.ts';
import { verification } from '../../../packages/sandbox/src/inspector/expectation.ts';
import { outcomeOf, reportOf } from '../../../packages/sandbox/src/inspector/outcome.ts';
import { stateOf } from '../../../packages/sandbox/src/inspector/verify.ts';
import { inspected } from './inspected.ts';

function outcome(expected: Verification, requests: readonly InspectedRequest[]) {
  const found = outcomeOf(verification.parse(expected), requests);
  return { ...found, state: stateOf(found.isMet) };
}

const CREATE = 'POST /v1/videos';
const PUT = 'PUT /uploads/vid_1/[token]';
const PUBLISH = 'POST /v1/feeds/feed_news/publish';

/** What came, by letters: c(reate), p(ut), f(eed). */
function came(letters: string): InspectedRequest[] {
  const asked: Record<string, string> = { c: CREATE, p: PUT, f: PUBLISH };
  return Array.from(letters, (letter, index) =>
    inspected(index + 1, asked[letter] ?? '', { status: letter === 'c' ? 201 : 200 }),
  );
}

const create = { operation: 'videos.create' };
const put = { operation: 'uploads.put' };
const publish = { operation: 'feeds.publish' };

test.each<[Partial<Expectation>, string, string]>([
  [{}, '', 'unmet'],
  [{}, 'c', 'met'],
  [{}, 'ccc', 'met'],
  [{ exactly: 1 }, '', 'unmet'],
  [{ exactly: 1 }, 'c', 'met'],
  [{ exactly: 1 }, 'cc', 'unmet'],
  [{ exactly: 0 }, 'c', 'unmet'],
  [{ at_least: 2 }, 'c', 'unmet'],
  [{ at_most: 1 }, '', 'met'],
  [{ at_most: 1 }, 'cc', 'unmet'],
  [{ at_least: 1, at_most: 2 }, 'cc', 'met'],
  [{ never: true }, 'pf', 'met'],
  [{ never: true }, 'pc', 'unmet'],
  [{ before: put }, 'c', 'unmet'],
  [{ before: put }, 'cp', 'met'],
  [{ before: put }, 'cpp', 'met'],
  [{ before: put }, 'p', 'unmet'],
  [{ before: put }, 'cpc', 'unmet'],
  [{ exactly: 2, before: put }, 'cp', 'unmet'],
  [{ at_most: 1, before: put }, 'p', 'met'],
  [{ after: put }, '', 'unmet'],
  [{ after: put }, 'p', 'unmet'],
  [{ after: put }, 'pc', 'met'],
  [{ after: put }, 'pcp', 'met'],
  [{ after: put }, 'c', 'unmet'],
  [{ after: put }, 'cpc', 'unmet'],
  [{ within: { after: put } }, 'c', 'unmet'],
  [{ exactly: 1, within: { after: put } }, 'ccpc', 'met'],
  [{ exactly: 1, within: { after: put, before: publish } }, 'cpcfc', 'met'],
  [{ exactly: 1, within: { after: put, before: publish } }, 'cpc', 'unmet'],
  [{ never: true, within: { before: put } }, 'pc', 'met'],
  [{ never: true, within: { before: put } }, '', 'unmet'],
  [{ never: true, within: { after: put } }, 'pc', 'unmet'],
  [{ never: true, within: { after: put } }, 'c', 'unmet'],
])('a create with %j, when %j came, is %s', (rule, letters, state) => {
  expect(outcome({ expectations: [{ request: create, ...rule }] }, came(letters)).state).toBe(state);
});

test('a count is the number of requests that fit, whatever comes between', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('c', 'p', 'f') }), fc.nat(5), (letters, exactly) => {
      const count = Array.from(letters).filter((letter) => letter === 'c').length;
      return (
        (outcome({ expectations: [{ request: create, exactly }] }, came(letters)).state === 'met') ===
        (count === exactly)
      );
    }),
  );
});

describe('other requests', () => {
  const only = { expectations: [{ request: create, before: put }], only: true };
  test('what an expectation or a reference is about is expected', () => {
    expect(outcome(only, came('cp')).unexpected).toEqual([]);
    expect(outcome(only, came('cpf')).unexpected.map(({ number }) => number)).toEqual([3]);
    expect(outcome({ expectations: [], only: true }, came('c')).state).toBe('unmet');
  });
  test('thumbnails and players are not counted', () => {
    expect(
      outcome(only, [...came('cp'), inspected(3, 'GET /cdn/thumbnails/vid_1.jpg'), inspected(4, 'GET /embed/vid_1')])
        .state,
    ).toBe('met');
  });
  test('a request under way may still fit', () => {
    const expected = { expectations: [{ request: { ...create, status: 201 } }], only: true };
    expect(outcome(expected, [inspected(1, CREATE, { isUnderWay: true })]).state).toBe('unmet');
    expect(outcome(expected, [inspected(1, CREATE, { status: 500 })]).state).toBe('unmet');
  });
});

test.each<[Expectation['request'], boolean]>([
  [{}, true],
  [{ operation: ['videos.list', 'videos.create'] }, true],
  [{ method: 'GET' }, false],
  [{ path: '/v1/videos' }, true],
  [{ path: '/v1' }, false],
  [{ path: '/v1/*' }, true],
  [{ query: { a: '1', b: ['2', '3'] } }, true],
  [{ query: { c: { $present: false } } }, true],
  [{ headers: { 'X-Note': { $like: 'o*' } } }, true],
  [{ headers: { 'x-none': 'x' } }, false],
  [{ body: { title: 'X' } }, true],
  [{ text: '"title"' }, true],
  [{ text: 'nothing' }, false],
  [{ status: 201 }, true],
  [{ status: '2xx' }, true],
  [{ status: [404, '5xx'] }, false],
  [{ fault: false }, false],
  [{ fault: true }, true],
  [{ fault: 'delay' }, true],
  [{ fault: 'reset' }, false],
  [{ key: 'key_1' }, true],
  [{ key: null }, false],
])('the matcher %j: %j', (request, doesFit) => {
  const came = inspected(1, 'POST /v1/videos?a=1&b=2&b=3', {
    status: 201,
    body: { title: 'X', more: 1 },
    headers: { 'x-note': 'one' },
    fault: 'delay',
  });
  expect(outcome({ expectations: [{ request }] }, [came]).state).toBe(doesFit ? 'met' : 'unmet');
});

test('the report names what came, what almost fitted, and why', () => {
  const expected: Verification = {
    expectations: [
      { name: 'the create', request: { ...create, body: { title: 'X' } }, exactly: 1, before: 'the PUT' },
      { name: 'the PUT', request: { ...put, status: 200 } },
      { request: { operation: 'channels.list' } },
    ],
    only: true,
  };
  const requests = [
    inspected(1, CREATE, { status: 201, body: { title: 'Y' } }),
    inspected(2, PUT),
    inspected(3, PUBLISH),
  ];
  expect(reportOf(outcome(expected, requests))).toBe(`1 of 3 expectations hold, and 2 unexpected requests came.
✗ "the create": Expected exactly 1 request, but none came.
    wanted: exactly 1 request like {"operation":"videos.create","body":{"title":"X"}}
    almost matched:
      #1 00:00:00.001 POST /v1/videos → 201
        body.title is "Y", not "X"
✗ expectation 3: Expected at least 1 request, but none came.
    wanted: at least 1 request like {"operation":"channels.list"}
    No request came near.
✗ No expectation is about these requests:
    unexpected:
      #1 00:00:00.001 POST /v1/videos → 201
      #3 00:00:00.003 POST /v1/feeds/feed_news/publish → 200
✓ "the PUT": 1 matched (#2).`);
  expect(reportOf(outcome({ expectations: [{ request: create, exactly: 1 }] }, came('cc'))))
    .toBe(`0 of 1 expectations hold.
✗ expectation 1: Expected exactly 1 request, but 2 came.
    wanted: exactly 1 request like {"operation":"videos.create"}
    matched:
      #1 00:00:00.001 POST /v1/videos → 201
      #2 00:00:00.002 POST /v1/videos → 201`);
});

test('a matcher says what the journal has not kept', () => {
  const dropped = { ...inspected(1, CREATE, { body: { title: 'X' } }), details: undefined };
  const expected = { expectations: [{ request: { ...create, body: { title: 'X' } } }] };
  expect(reportOf(outcome(expected, [dropped]))).toContain('the journal has dropped its headers and body');
});

describe('a request of which the journal has only a part', () => {
  const titled = { operation: 'videos.create', body: { title: 'Tides' } };
  const dropped = { ...inspected(1, CREATE), details: undefined };
  const cut = cutBody(inspected(1, CREATE, { body: '{"title": "Tides", "description": "xxx' }));
  const shortened = inspected(1, `GET /v1/videos?${'x'.repeat(300)}…`);

  test.each<[string, InspectedRequest, Expectation]>([
    ['its body was dropped', dropped, { request: titled, never: true }],
    ['its body was dropped', dropped, { request: titled, at_most: 1 }],
    ['its body was dropped', dropped, { request: { text: 'Tides' }, never: true }],
    ['its headers were dropped', dropped, { request: { headers: { 'x-a': 'b' } }, never: true }],
    ['its body is cut', cut, { request: titled, never: true }],
    ['its body is cut', cut, { request: { text: 'behind the cut' }, never: true }],
    ['its query is cut', shortened, { request: { query: { page: '2' } }, never: true }],
    ['it may be the one that others must come before', dropped, { request: publish, at_most: 1, before: titled }],
  ])('keeps an expectation from holding by chance: %s', (_, request, expectation) => {
    const { state, expectations } = outcome({ expectations: [expectation] }, [request]);
    expect([state, expectations[0]?.problems.join(' ')]).toEqual([
      'unmet',
      expect.stringContaining('Cannot tell for #1'),
    ]);
  });

  test.each<[string, InspectedRequest, Expectation]>([
    ['it is another one', { ...inspected(1, PUT), details: undefined }, { request: titled, never: true }],
    ['nothing is expected of its body', dropped, { request: create, exactly: 1 }],
    ['what is wanted stands before the cut', cut, { request: { text: 'Tides' }, exactly: 1 }],
  ])('counts as it is where %s', (_, request, expectation) => {
    expect(outcome({ expectations: [expectation] }, [request]).state).toBe('met');
  });

  test('does not count where one that is known is enough', () => {
    const known = inspected(2, CREATE, { body: { title: 'Tides' } });
    expect(outcome({ expectations: [{ request: titled }] }, [dropped, known]).state).toBe('met');
    expect(outcome({ expectations: [{ request: titled, exactly: 1 }] }, [dropped, known]).state).toBe('unmet');
  });

  test('is not unexpected', () => {
    expect(outcome({ expectations: [{ request: titled, at_most: 1 }], only: true }, [dropped]).unexpected).toEqual([]);
  });
});

function cutBody(request: InspectedRequest): InspectedRequest {
  const { details } = request;
  if (!details) return request;
  return { ...request, details: { ...details, requestBody: { ...details.requestBody, isCut: true } } };
}
