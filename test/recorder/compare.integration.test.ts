import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { compare, type Comparison } from '../../packages/recorder/src/compare/compare.ts';
import { listen } from '../support/server.ts';
import { recorded } from './recorded.ts';
import { exchangesOf, type Said } from './said.ts';

const video = {
  id: 'vid_1',
  title: 'T',
  status: 'ready',
  duration: 3,
  created_at: '2026-11-20T12:00:00Z',
  thumbnail_url: 'https://cdn.example.com/1.jpg',
  embed_url: 'https://embed.example.com/1',
};
const whole = { ...video, description: null, channel_id: 'ch_news', tags: [], source_url: null };

const heard = (...said: Said[]): Comparison => compare(exchangesOf(said));
const places = (findings: Comparison['violated']): unknown[] => findings.map(({ place, what }) => [place, what]);

describe('a service that departs from the contract', () => {
  const list = (item: object, meta: object = { page: 1, per_page: 25, total: 1 }): Said => ({
    target: '/v1/videos',
    json: { data: [item], meta },
  });

  test.each<[string, Said, keyof Comparison, string, RegExp]>([
    [
      'another status of success',
      {
        method: 'POST',
        target: '/v1/videos',
        status: 200,
        json: { id: 'vid_1', upload_url: 'https://u.example.com/1', status: 'pending' },
      },
      'contradicted',
      'videos.create HTTP status',
      /^answers 200$/,
    ],
    [
      'a wrapped creation',
      {
        method: 'POST',
        target: '/v1/videos',
        status: 201,
        json: { data: { id: 'vid_1', upload_url: 'https://u.example.com/1', status: 'pending' } },
      },
      'violated',
      'videos.create body',
      /^is wrapped in data$/,
    ],
    [
      'a bare video',
      { target: '/v1/videos/vid_1', json: whole },
      'contradicted',
      'videos.get body',
      /^is not wrapped in data$/,
    ],
    [
      'a bare list',
      { target: '/v1/videos', json: [video] },
      'violated',
      'videos.list body',
      /^is not wrapped in data$/,
    ],
    [
      'a missing field that is given',
      list({ ...video, title: undefined }),
      'violated',
      'videos.list data[].title',
      /^is missing$/,
    ],
    [
      'an unknown status',
      list({ ...video, status: 'transcoding' }),
      'violated',
      'videos.list data[].status',
      /"transcoding".*pending, processing, ready, failed/,
    ],
    ['a number as a text', list({ ...video, duration: '3' }), 'contradicted', 'videos.list data[].duration', /"3"/],
    ['a new field', list({ ...video, width: 1920 }), 'unknown', 'videos.list data[].width', /^is a new field$/],
    [
      'a deletion with a body',
      { method: 'DELETE', target: '/v1/videos/vid_1', status: 200, json: { deleted: true } },
      'contradicted',
      'videos.delete body',
      /^has a JSON body$/,
    ],
    [
      'an error of another form',
      { target: '/v1/videos/vid_1', status: 404, json: { message: 'nothing' } },
      'violated',
      'videos.get 404',
      /error/,
    ],
    [
      'a code that does not go with its status',
      { target: '/v1/videos/vid_1', status: 404, json: { error: { code: 'gone', message: 'x' } } },
      'violated',
      'videos.get 404 error.code',
      /not_found/,
    ],
    [
      'a code of a refusal that is not shown',
      { target: '/v1/videos?page=0', status: 422, json: { error: { code: 'bad_page', message: 'x' } } },
      'contradicted',
      'videos.list 422 error.code',
      /bad_page/,
    ],
    [
      'a refusal whose status is not documented',
      { method: 'DELETE', target: '/v1/videos/vid_1', status: 409, json: { error: { code: 'busy', message: 'x' } } },
      'contradicted',
      'videos.delete 409 error.code',
      /^has a status that the contract does not document$/,
    ],
    [
      'a video without the fields of a list item, which is not shown',
      { target: '/v1/videos/vid_1', json: { data: { ...whole, title: undefined } } },
      'contradicted',
      'videos.get data.title',
      /^is missing$/,
    ],
    [
      'a rate limit with a date',
      {
        target: '/v1/channels',
        status: 429,
        json: { error: { code: 'rate_limited', message: 'x' } },
        headers: { 'retry-after': 'Fri, 20 Nov 2026 12:00:00 GMT' },
      },
      'violated',
      'channels.list 429',
      /not a number of seconds/,
    ],
    [
      'a rate limit without Retry-After',
      { target: '/v1/channels', status: 429, json: { error: { code: 'rate_limited', message: 'x' } } },
      'violated',
      'channels.list 429',
      /^has no Retry-After$/,
    ],
    [
      'a redirect',
      { method: 'PUT', target: '/uploads/vid_1/1', status: 307 },
      'contradicted',
      'uploads.put HTTP status',
      /^redirects \(307\)$/,
    ],
    ['an unknown path', { target: '/v1/playlists', json: {} }, 'unknown', 'GET /v1/playlists', /200/],
  ])('is found out: %s', (_, said, group, place, what) => {
    const findings = heard(said)[group] as Comparison['violated'];
    expect(places(findings)).toContainEqual([place, expect.stringMatching(what)]);
  });

  test('is distinguished from one that keeps it', () => {
    const { violated, contradicted, unknown, confirmed, unseen } = heard(list(video), {
      target: '/v1/videos/vid_1',
      json: { data: whole },
    });
    expect([violated, contradicted, unknown]).toEqual([[], [], []]);
    expect(confirmed.map(({ place }) => place)).toContain('videos.get body');
    expect(unseen.map(({ place }) => place)).toContain('feeds.publish HTTP status');
  });
});

describe('no departure', () => {
  const list = (item: object): Said => ({
    target: '/v1/videos',
    json: { data: [item], meta: { page: 1, per_page: 25, total: 1 } },
  });
  const unauthorized = { error: { code: 'unauthorized', message: 'x' } };

  test.each<[string, Said]>([
    ['an address whose query is hidden', list({ ...video, thumbnail_url: 'https://cdn.example.com/1.jpg?hidden' })],
    ['a time that is hidden', list({ ...video, created_at: '[hidden created_at 1]' })],
    ['HEAD', { method: 'HEAD', target: '/v1/videos' }],
    ['an answer that has not changed', { target: '/v1/videos', status: 304 }],
    ['what browsers ask before', { method: 'OPTIONS', target: '/v1/videos', status: 204 }],
    ['a refusal of an unknown path', { target: '/v1/playlists', status: 404 }],
    ['a page of 200 without a right', { target: '/v1/videos?per_page=200', status: 401, json: unauthorized }],
    [
      'a page of analytics',
      { target: '/v1/analytics/videos', json: { data: [], meta: { page: 1, per_page: 25, total: 0 } } },
    ],
  ])('is %s', (_, said) => {
    const { violated, contradicted, unknown } = heard(said);
    expect([violated, contradicted, unknown]).toEqual([[], [], []]);
  });

  test('is an upload after the deletion of the video', () => {
    const { contradicted } = heard(
      {
        method: 'PUT',
        target: '/uploads/vid_1/1',
        status: 200,
        json: { id: 'vid_1', status: 'processing', size: 1, sha256: 'a'.repeat(64) },
      },
      { method: 'DELETE', target: '/v1/videos/vid_1', status: 204 },
      { method: 'PUT', target: '/uploads/vid_1/1', status: 410, json: { error: { code: 'gone', message: 'x' } } },
    );
    expect(contradicted).toEqual([]);
  });

  test('is in what was not seen: HEAD does not show a body', () => {
    expect(heard({ method: 'HEAD', target: '/v1/videos' }).confirmed.map(({ place }) => place)).toEqual([
      'videos.list HTTP status',
    ]);
  });
});

test('a new field of a refusal is only listed', () => {
  const json = { error: { code: 'not_found', message: 'm', request_id: '1' }, at: 'x' };
  const { violated, contradicted, unknown } = heard({ target: '/v1/videos/vid_1', status: 404, json });
  expect([violated, contradicted]).toEqual([[], []]);
  expect(places(unknown)).toEqual([
    ['videos.get 404 at', 'is a new field'],
    ['videos.get 404 error.request_id', 'is a new field'],
  ]);
});

test.each([[[]], [null], ['text']])('a body that is %j instead of an object has a place', (json) => {
  const { violated } = heard({ method: 'POST', target: '/v1/videos', status: 201, json });
  expect(places(violated)).toEqual([['videos.create body', expect.stringMatching(/it must be object$/)]]);
});

test('values that break the same rule are one departure, and other words of a status are each their own', () => {
  const items = [1, 2, 3].map((day) => ({ ...video, created_at: `2026-11-20 1${day}:00Z`, status: `state ${day}` }));
  const json = { data: items, meta: { page: 1, per_page: 25, total: 3 } };
  const { violated } = heard({ target: '/v1/videos', json }, { target: '/v1/videos?page=2', json });
  const shown = places(violated).map((finding) => String(finding));
  expect(shown.filter((finding) => finding.includes('created_at'))).toEqual([
    expect.stringMatching(/"2026-11-20 11:00Z": it must match format/),
  ]);
  expect(shown.filter((finding) => finding.includes('data[].status'))).toHaveLength(3);
});

test('the specification shows no answer of an upload address', () => {
  const { violated, contradicted } = heard({ method: 'PUT', target: '/uploads/vid_1/1', status: 403 });
  expect([violated, places(contradicted)]).toEqual([
    [],
    [['uploads.put 403', 'has no body instead of an error object']],
  ]);
});

describe('questions that several answers tell', () => {
  const listed = (...times: string[]): Said => ({
    target: '/v1/videos',
    json: { data: times.map((created_at) => ({ ...video, created_at })), meta: { page: 1, per_page: 25, total: 2 } },
  });

  test.each<[string, Said[], string, string | null]>([
    ['newest first', [listed('2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z')], 'videos.list order', null],
    ['oldest first', [listed('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z')], 'videos.list order', 'oldest first'],
    [
      'a second file that is taken',
      [
        { method: 'PUT', target: '/uploads/vid_1/1' },
        { method: 'PUT', target: '/uploads/vid_1/1' },
      ],
      'uploads.put second file',
      'answered with 200',
    ],
    [
      'a second deletion that succeeds',
      [
        { method: 'DELETE', target: '/v1/videos/v', status: 204 },
        { method: 'DELETE', target: '/v1/videos/v', status: 204 },
      ],
      'videos.delete second time',
      'answered with 204',
    ],
    [
      'an unknown field that is ignored',
      [{ method: 'POST', target: '/v1/videos', status: 201, asked: { title: 'T', colour: 'red' } }],
      'videos.create unknown field',
      'answered with 201',
    ],
    ['a page of 200', [{ target: '/v1/videos?per_page=200' }], 'videos.list per_page over 100', 'answered with 200'],
  ])('%s', (_, said, place, what) => {
    const { contradicted, confirmed } = heard(...said);
    const finding = [...contradicted, ...confirmed].find((each) => each.place === place);
    expect(finding?.what).toBe(what);
    expect((what === null ? confirmed : contradicted).includes(finding ?? confirmed[0]!)).toBe(true);
  });
});

test('no form of a secret reaches the file', async () => {
  const secret = 'sEcr3t/+key==with%odd"ends\\';
  const forms = [
    secret,
    encodeURIComponent(secret),
    Buffer.from(`me:${secret}`).toString('base64'),
    Buffer.from(secret).toString('base64url'),
    Buffer.from(secret).toString('hex'),
  ];
  const echo = (request: IncomingMessage, response: ServerResponse): void => {
    request.resume();
    const said = {
      error: {
        code: 'x',
        message: `you said ${forms.join(' and ')}`,
        forms,
        whsec: 'whsec_0123456789abcdef',
        password: 'plain',
      },
    };
    response.writeHead(400, {
      'content-type': 'application/json',
      'set-cookie': `s=${encodeURIComponent(secret)}`,
      'x-echo': 'hidden too',
    });
    response.end(JSON.stringify(said));
  };
  await using server = await listen(createServer(echo));
  const { text } = await recorded(`http://127.0.0.1:${server.port}/v1`, async ({ baseUrl }) => {
    const headers = { authorization: `Bearer ${secret}`, cookie: 'session=abc' };
    await fetch(`${baseUrl}/videos?token=${encodeURIComponent(secret)}&page=1`, { headers });
  });
  for (const form of [...forms.filter((each) => each !== forms[2]), 'whsec_0123', 'plain', 'session=abc', 'hidden too'])
    expect(text).not.toContain(form);
  expect(text).not.toContain(Buffer.from(secret).toString('base64').slice(4, -6));
  expect(text).toContain('[hidden key 1]');
});
