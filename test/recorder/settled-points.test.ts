import { describe, expect, test } from 'vitest';
import { compare, type Comparison } from '../../packages/recorder/src/compare/compare.ts';
import type { RecordedExchange } from '../../packages/recorder/src/recording.ts';
import { mostUploadBytes } from '../../packages/sandbox/src/profiles/switch-table.ts';
import { exchangesOf, type Said } from './said.ts';

type Settled = Pick<Comparison, 'switches' | 'settled'>;

const heard = (...said: Said[]): Settled => compare(exchangesOf(said));
const created = (status: number, json: object = { id: 'vid_1' }): Said => ({
  method: 'POST',
  target: '/v1/videos',
  status,
  json,
});
const put = (status: number, json?: object): Said => ({ method: 'PUT', target: '/uploads/vid_1/1', status, json });
const otherPut = (status: number): Said => ({ method: 'PUT', target: '/uploads/vid_2/1', status });
const got = (status: string, id = 'vid_1'): Said => ({ target: `/v1/videos/${id}`, json: { data: { id, status } } });
const missing: Said = { target: '/v1/videos/vid_1', status: 404, json: { error: { code: 'not_found', message: '' } } };

/** One minute after another. */
function minutesApart(exchanges: readonly RecordedExchange[]): RecordedExchange[] {
  return exchanges.map((exchange, minute) => ({
    ...exchange,
    at: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
  }));
}

test('a point that is settled in two ways is no switch, and both are reported', () => {
  const { switches, settled } = heard(created(202), created(200), created(202));
  expect(switches).toEqual({});
  expect(settled).toContainEqual({
    name: 'create_status',
    values: [
      { value: '202', exchanges: [1, 3] },
      { value: '200', exchanges: [2] },
    ],
  });
});

test('what the sandbox cannot do is no switch', () => {
  const { settled } = heard(created(206), { target: '/v1/videos', status: 302 }, got('archived'));
  const switches = ['rate_limit_headers', 'request_id', 'conditional_reads', 'create_body', 'get_body', 'get_fields'];
  expect(settled.map(({ name }) => name)).toEqual(switches);
});

test('an answer that broke off shows nothing', () => {
  const [exchange] = exchangesOf([created(200)]);
  expect(compare(exchange === undefined ? [] : [{ ...exchange, broken: 'ECONNRESET' }]).settled).toEqual([]);
});

describe('processing_word', () => {
  test.each<[string, Said[], string | undefined]>([
    ['pending after the upload', [put(204), got('pending'), got('ready')], 'pending'],
    ['pending between two uploads', [put(204), got('pending'), put(204)], 'pending'],
    ['pending before the upload', [got('pending'), put(204), got('ready')], undefined],
    ['pending of another video', [put(204), got('pending', 'vid_2')], undefined],
    ['pending after an upload that was refused', [put(403), got('pending')], undefined],
    ['another word', [got('transcoding')], 'transcoding'],
  ])('%s', (_, said, word) => {
    expect(compare(minutesApart(exchangesOf(said))).switches.processing_word).toBe(word);
  });

  test('pending for a moment, then processing', () => {
    const { settled } = compare(minutesApart(exchangesOf([put(204), got('pending'), got('processing')])));
    expect(settled).toContainEqual({ name: 'processing_word', values: [{ value: 'processing', exchanges: [3] }] });
  });

  test('pending in an answer that was asked for before the upload had ended', () => {
    const [upload, asked] = exchangesOf([put(204), got('pending')]);
    const exchanges = [{ ...upload, ms: 5_000 }, asked] as RecordedExchange[];
    expect(compare(exchanges).switches).not.toHaveProperty('processing_word');
  });
});

describe('an upload address', () => {
  test.each<[string, Said[], Settled['switches']]>([
    ['that expired', [put(410)], { expired_address: '410' }],
    ['that expired, asked again', [put(410), put(410)], { expired_address: '410' }],
    [
      'that expired, after another with a wrong signature',
      [put(403, { code: 'SignatureDoesNotMatch' }), otherPut(410)],
      { expired_address: '410' },
    ],
    [
      'that expired, after another that took the second try',
      [put(403), put(200), otherPut(410)],
      { expired_address: '410' },
    ],
    ['of a deleted video', [put(410), missing], {}],
    [
      'of a video that the program deleted',
      [{ method: 'DELETE', target: '/v1/videos/vid_1', status: 204 }, put(410)],
      {},
    ],
    ['that took a file', [put(200), put(404)], { second_put: '404' }],
    ['that may have taken a file', [put(500), put(404)], {}],
  ])('%s', (_, said, switches) => {
    expect(heard(...said).switches).toEqual(switches);
  });
});

describe('daily_videos', () => {
  test.each<[string, Said, string | undefined]>([
    ['a code', created(403, { error: { code: 'quota_reached', message: 'No.' } }), 'quota_reached'],
    ['no code', created(403, { message: 'No.' }), undefined],
    ['507 without a code', created(507, { message: 'No.' }), 'insufficient_storage'],
    ['a refusal without a body', { method: 'POST', target: '/v1/videos', status: 403 }, undefined],
  ])('%s', (_, said, value) => {
    expect(heard(said).switches.daily_videos).toBe(value);
  });
});

test('max_upload_size: 400 without a body', () => {
  const [exchange] = exchangesOf([put(400)]);
  const request = { headers: { 'content-length': String(mostUploadBytes + 1) } };
  expect(compare([{ ...exchange, request } as RecordedExchange]).switches).toEqual({ max_upload_size: '400' });
});

describe('error_body', () => {
  const refused = (body: { json: unknown } | { text: string }, target = '/v1/videos'): Settled => {
    const [exchange] = exchangesOf([{ method: target.startsWith('/u') ? 'PUT' : 'GET', target, status: 404 }]);
    return compare([{ ...exchange, answer: { status: 404, headers: {}, body } } as RecordedExchange]);
  };

  test.each<[string, { json: unknown } | { text: string }, string | undefined]>([
    ['a problem', { json: { type: 'about:blank', title: 'Not Found', status: 404 } }, 'problem'],
    ['a message', { json: { message: 'No.', code: 5 } }, 'message'],
    ['a detail, which the sandbox never says', { json: { detail: 'No.' } }, undefined],
    ['a sentence', { text: 'No.' }, 'text'],
    ['a page', { text: '\n<!doctype html><h1>No' }, 'html'],
    ['XML', { text: '<?xml version="1.0"?><Error/>' }, undefined],
  ])('%s', (_, body, value) => {
    expect(refused(body).switches.error_body).toBe(value);
  });

  test('is not that of an upload host', () => {
    expect(refused({ text: 'No.' }, '/uploads/vid_1/1').switches).not.toHaveProperty('error_body');
  });
});

describe('refused or ignored', () => {
  const list = (query: string, status: number, videos = 1): Said => ({
    target: `/v1/videos?${query}`,
    status,
    json: status === 200 ? { data: Array.from({ length: videos }, () => ({})) } : { error: {} },
  });
  test.each<[string, Said, Settled['switches']]>([
    ['an unknown parameter', list('a=1', 200), { unknown_parameters: 'ignore' }],
    ['the same without a right', list('a=1', 403), {}],
    ['a page that is cut to 100', list('per_page=500', 200, 100), { per_page_over_100: 'clamp' }],
    ['a page that is not', list('per_page=500', 200, 101), {}],
    ['an unknown field', { ...created(201), asked: { title: 'T', colour: 'red' } }, { unknown_fields: 'ignore' }],
    ['a body that is wrong anyway', { ...created(422, { error: {} }), asked: { colour: 'red' } }, {}],
    [
      'a body with a publish',
      {
        method: 'POST',
        target: '/v1/feeds/feed_1/publish',
        json: { status: 'published' },
        asked: { a: 1 },
      },
      { unknown_fields: 'ignore' },
    ],
  ])('%s', (_, said, switches) => {
    expect(heard(said).switches).toEqual(switches);
  });
});
