import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { RecordedExchange } from '../../packages/recorder/src/recording.ts';
import { startReplay } from '../../packages/recorder/src/replay.ts';

type Part = Partial<Pick<RecordedExchange, 'number' | 'method' | 'target' | 'answer'>> & { readonly asked?: unknown };

function exchange({ asked, ...part }: Part): RecordedExchange {
  const request = { headers: {}, ...(asked !== undefined && { body: { json: asked } }) };
  const answer = { status: 200, headers: {} };
  return { kind: 'exchange', number: 1, at: '', ms: 1, method: 'GET', target: '/v1/videos', request, answer, ...part };
}

const said = (text: string): RecordedExchange['answer'] => ({ status: 200, headers: {}, body: { text } });

describe('a request gets the answer that was recorded for it', () => {
  test('where a secret was hidden in its address', async () => {
    const exchanges = [
      exchange({ target: '/v1/videos?token=[hidden secret 1]&page=1', answer: said('first') }),
      exchange({ target: '/v1/videos?page=2&token=[hidden secret 1]', answer: said('second') }),
    ];
    await using replay = await startReplay({ exchanges });
    const asked = async (query: string): Promise<string> => (await fetch(`${replay.baseUrl}/videos?${query}`)).text();
    expect(await asked('page=2&token=another')).toBe('second');
    expect(await asked('token=another&page=1')).toBe('first');
    expect(await asked('page=3&token=another')).toContain('was not recorded');
  });

  test.each<[string, unknown, unknown, boolean]>([
    ['another title', { title: 'One' }, { title: 'Two' }, false],
    ['another title with brackets', { title: '[Live] One' }, { title: '[Live] Two' }, false],
    ['a hidden title', { title: '[hidden title 1]' }, { title: 'Two' }, true],
    ['a hidden number', { pin: '[hidden secret 1]' }, { pin: 1234 }, true],
    ['a number in place of a text', { pin: '1234' }, { pin: 1234 }, false],
    ['a hidden query', { source_url: 'https://a.example/v?hidden' }, { source_url: 'https://a.example/v?sig=1' }, true],
    ['another path', { source_url: 'https://a.example/v?hidden' }, { source_url: 'https://a.example/w?sig=1' }, false],
    ['one field more', { title: 'One' }, { title: 'One', tags: [] }, false],
    ['an object in place of a list', { tags: ['a'] }, { tags: { 0: 'a' } }, false],
    ['more than 1 MiB', { title: 'x'.repeat(2_000_000) }, { title: 'x'.repeat(2_000_000) }, true],
  ])('with %s', async (_, asked, sent, fits) => {
    await using replay = await startReplay({ exchanges: [exchange({ method: 'POST', asked })] });
    const headers = { 'content-type': 'application/json' };
    const { status } = await fetch(`${replay.baseUrl}/videos`, { method: 'POST', headers, body: JSON.stringify(sent) });
    expect(status).toBe(fits ? 200 : 404);
  });

  test('whatever the type of its JSON body is called', async () => {
    await using replay = await startReplay({ exchanges: [exchange({ method: 'POST', asked: { title: 'One' } })] });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const { status } = await fetch(`${replay.baseUrl}/videos`, { method: 'POST', headers, body: '{"title":"One"}' });
    expect(status).toBe(200);
  });

  test.each([
    ['HEAD', 200, { 'content-length': '1234' }, '1234'],
    ['GET', 204, {}, undefined],
    ['GET', 304, { etag: '"1"' }, undefined],
  ])('%s %s with its length', async (method, status, headers, length) => {
    await using replay = await startReplay({ exchanges: [exchange({ method, answer: { status, headers } })] });
    const asking = request(`${replay.baseUrl}/videos`, { method, agent: false }).end();
    const [answer] = await once(asking, 'response');
    answer.resume();
    expect([answer.statusCode, answer.headers['content-length']]).toEqual([status, length]);
  });
});

test.each([
  ['GET // HTTP/1.1', {}],
  ['GET /v1/videos HTTP/1.1', { etag: 'a\nb' }],
  ['GET /v1/videos HTTP/1.1', { 'a b': 'c' }],
])('%s with %j leaves the replay alive', async (line, headers) => {
  const exchanges = [
    exchange({ answer: { status: 200, headers } }),
    exchange({ target: '/v1/feeds', answer: said('alive') }),
  ];
  await using replay = await startReplay({ exchanges });
  const socket = connect(Number(new URL(replay.baseUrl).port), '127.0.0.1');
  socket.end(`${line}\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
  await once(socket.resume(), 'close');
  expect(await (await fetch(`${replay.baseUrl}/feeds`)).text()).toBe('alive');
});
