import { describe, expect, test } from 'vitest';
import { checkExchange, operationOf, type Exchange } from './contract.ts';
import { operations } from '../../packages/sandbox/src/contract/document.ts';
import { ContractWatch } from './watched.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const withKey = { authorization: 'Bearer k' };

interface Short extends Partial<Omit<Exchange, 'requestHeaders' | 'responseHeaders' | 'responseBody'>> {
  readonly sent?: Record<string, string>;
  readonly received?: Record<string, string>;
  /** A text, or what is sent as JSON. */
  readonly answer?: unknown;
}

const problemsOf = ({ sent = withKey, received = JSON_TYPE, answer = '', ...rest }: Short) =>
  checkExchange({
    method: 'GET',
    url: 'http://127.0.0.1:1/v1/videos',
    status: 200,
    ...rest,
    requestHeaders: new Headers(sent),
    responseHeaders: new Headers(received),
    responseBody: typeof answer === 'string' ? answer : JSON.stringify(answer),
  });

const item = {
  id: 'vid_1',
  title: 'T',
  status: 'ready',
  duration: 4,
  created_at: '2026-01-01T00:00:00.000Z',
  thumbnail_url: 'http://127.0.0.1/t.jpg',
  embed_url: 'http://127.0.0.1/e',
};
const list = (video: object) => ({ data: [video], meta: { page: 1, per_page: 25, total: 1 } });
const refusal = (code: string) => ({ error: { code, message: 'No.' } });
const created = { id: 'vid_1', upload_url: 'http://127.0.0.1/u', status: 'pending' };
const post = { method: 'POST', status: 201, sent: { ...withKey, ...JSON_TYPE }, requestBody: '{"title":"x"}' };

describe('an exchange that keeps the contract has no problems', () => {
  test.each<[string, Short]>([
    ['a list', { answer: list(item) }],
    [
      'a list that is requested in all ways',
      { url: '/v1/videos?page=2&per_page=100&status=ready', answer: list(item) },
    ],
    ['a creation', { ...post, answer: created }],
    ['a charset', { received: { 'content-type': 'application/json; charset=utf-8' }, answer: list(item) }],
    ['a refused request that is wrong', { url: '/v1/videos?page=0', status: 422, answer: refusal('invalid_request') }],
    ['HEAD', { method: 'HEAD' }],
    ['OPTIONS', { method: 'OPTIONS', status: 204, received: { allow: 'GET' } }],
    ['a path that is not there', { url: '/v1/nowhere', status: 404, answer: refusal('not_found') }],
    [
      'no analytics by id',
      { url: '/v1/analytics/videos', answer: { data: [], meta: { page: 1, per_page: 25, total: 0 } } },
    ],
    ['a delete', { method: 'DELETE', url: '/v1/videos/vid_1', status: 204, received: {} }],
    ['a refusal of the transport', { status: 421, answer: refusal('misdirected_request') }],
  ])('%s', (_what, exchange) => {
    expect(problemsOf(exchange)).toEqual([]);
  });
});

describe('what is against the contract is named', () => {
  test.each<[string, Short, RegExp]>([
    ['a missing field', { answer: list({ ...item, embed_url: undefined }) }, /\/data\/0 must have required.*embed_url/],
    ['a field too much', { answer: list({ ...item, views: 1 }) }, /additional properties \("views"\)/],
    ['a wrong type', { answer: list({ ...item, duration: 1.5 }) }, /\/data\/0\/duration must be integer/],
    ['an unknown status of a video', { answer: list({ ...item, status: 'done' }) }, /\/data\/0\/status/],
    ['a local time', { answer: list({ ...item, created_at: '2026-01-01T00:00:00+01:00' }) }, /created_at/],
    ['no wrapping', { answer: [item] }, /must be object/],
    ['an undocumented status', { status: 202, answer: list(item) }, /videos.list has no answer 202/],
    ['another status', { status: 404, answer: refusal('not_found') }, /videos.list has no answer 404/],
    ['another code for the status', { status: 422, answer: refusal('bad_request') }, /must be equal to constant/],
    ['an error in another form', { status: 500, answer: { message: 'x' } }, /must have required property 'error'/],
    ['another type', { received: { 'content-type': 'text/html' }, answer: '<p>' }, /is of type text\/html/],
    ['no JSON', { answer: '{"data":' }, /the answer is not JSON/],
    ['429 without Retry-After', { status: 429, answer: refusal('rate_limited') }, /has no Retry-After/],
    [
      '429 with a date',
      { status: 429, answer: refusal('rate_limited'), received: { ...JSON_TYPE, 'retry-after': 'Mon' } },
      /Retry-After: \/ must be integer/,
    ],
    ['a body of HEAD', { method: 'HEAD', answer: list(item) }, /has a body/],
    ['a body of 204', { method: 'DELETE', url: '/v1/videos/v', status: 204, answer: '{}' }, /has a body/],
    ['an unknown operation', { method: 'PUT', answer: {} }, /not in the contract/],
    ['405 without Allow', { method: 'PUT', status: 405, answer: refusal('method_not_allowed') }, /has no Allow/],
    ['a request without key', { sent: {}, answer: list(item) }, /no key/],
    ['a wrong page let pass', { url: '/v1/videos?page=0', answer: list(item) }, /page: \/ must be >= 1/],
    ['a page that is no number', { url: '/v1/videos?page=x', answer: list(item) }, /page: \/ must be integer/],
    ['an unknown parameter let pass', { url: '/v1/videos?sort=x', answer: list(item) }, /sort is not known/],
    ['a parameter given twice', { url: '/v1/videos?page=1&page=1', answer: list(item) }, /given twice/],
    ['a wrong body let pass', { ...post, requestBody: '{"title":1}', answer: created }, /\/title must be string/],
    ['an unknown field let pass', { ...post, requestBody: '{"title":"x","a":1}', answer: created }, /\("a"\)/],
    ['a body of another type', { ...post, sent: withKey, answer: created }, /the request is of type unknown/],
    ['no body', { ...post, requestBody: '', answer: created }, /the request has no body/],
  ])('%s', (_what, exchange, message) => {
    expect(problemsOf(exchange).join('\n')).toMatch(message);
  });
});

test('every operation of the contract is found by its own path', () => {
  for (const operation of operations) {
    const url = operation.path.replaceAll(/\{\w+\}/g, 'x');
    expect(operationOf({ method: operation.method, url })).toBe(operation);
  }
  expect(operations).toHaveLength(12);
});

test('a watch fails at its end when one exchange was against the contract, and only then', async () => {
  const watch = new ContractWatch();
  const request = () => new Request('http://127.0.0.1/v1/videos', { headers: withKey });
  await watch.onExchange(request(), Response.json(list(item)));
  expect(() => watch.assertKept()).not.toThrow();
  await watch.onExchange(request(), Response.json({}));
  expect(() => watch.assertKept()).toThrow(/openapi.yaml[^]*GET \/v1\/videos 200: the answer: \/ must have/);
});
