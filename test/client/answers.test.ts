import nock from 'nock';
import { describe, expect, test } from 'vitest';

import {
  ForbiddenError,
  NotFoundError,
  PaymentRequiredError,
  RateLimitedError,
  RedirectError,
  RejectedError,
  ServerError,
  UnauthorizedError,
  UnreadableAnswerError,
} from '@dropcast/client';
import type { ServiceError } from '@dropcast/client';
import { readError } from '../../packages/client/src/transport/answer-body.ts';
import { createScrub } from '../../packages/client/src/transport/scrub.ts';
import { apiKey, openDaemonClient } from './daemon-client.ts';
import { base, mockExchanges } from './nocked.ts';

mockExchanges();

describe('an answer other than 2xx', () => {
  async function answered(
    status: number,
    body: string | object,
    headers: Record<string, string> = {},
  ): Promise<ServiceError & Record<string, unknown>> {
    await using opened = openDaemonClient(base);
    nock(base).get('/videos/vid_1').reply(status, body, headers);
    const error = await opened.client.videos.get('vid_1').catch((reason: unknown) => reason);
    expect(opened.throttled).toHaveLength(status === 429 ? 1 : 0);
    expect(opened.notes).toMatchObject([{ operation: 'get video', status, ms: expect.any(Number) }]);
    return error as ServiceError & Record<string, unknown>;
  }

  test.each([
    [401, UnauthorizedError],
    [402, PaymentRequiredError],
    [403, ForbiddenError],
    [404, NotFoundError],
    [410, NotFoundError],
    [429, RateLimitedError],
    [400, RejectedError],
    [408, RejectedError],
    [413, RejectedError],
    [422, RejectedError],
    [500, ServerError],
    [503, ServerError],
  ])('%i is an error of its own, with what the service says', async (status, kind) => {
    const error = await answered(
      status,
      { error: { code: 'some_code', message: 'some words' } },
      { 'x-request-id': 'req_1' },
    );
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({
      status,
      code: 'some_code',
      requestId: 'req_1',
      message: expect.stringContaining(`${status} some_code: some words`),
    });
  });

  test('a 503 with Retry-After is honoured', async () => {
    expect(await answered(503, '<h1>Maintenance</h1>', { 'retry-after': '120' })).toMatchObject({
      retryAfterMs: 120_000,
      code: 'service_unavailable',
      message: expect.stringContaining('503 service_unavailable: Maintenance'),
    });
  });

  test.each([301, 302, 303, 307, 308])('%i is never followed and names only where it leads', async (status) => {
    const error = await answered(status, '', { location: 'https://evil.example.com/steal?x=abcdefghijk' });
    expect(error).toBeInstanceOf(RedirectError);
    expect(error.message).toContain(`${status}, a redirect to https://evil.example.com,`);
    expect(error.message).not.toContain('steal');
  });

  test('a message with our key in it is shown without', async () => {
    const error = await answered(401, {
      error: { code: 'unauthorized', message: `${'x'.repeat(190)} ${apiKey} is revoked` },
    });
    expect(error.message).not.toContain(apiKey.slice(0, 9));
  });
});

describe('a long error answer', () => {
  test('is read up to the end of a word: half of a secret that it echoes is never shown', async () => {
    for (const key of [apiKey, `/${apiKey}`, `${apiKey}"}`]) {
      for (let before = 8192 - key.length - 2; before <= 8192; before += 1) {
        const error = readError(500, `<p>${' '.repeat(before)}${key}${'y'.repeat(100)}`, createScrub([apiKey]));
        expect(error.message).not.toContain(apiKey.slice(0, 4));
      }
    }
  });

  test.each([
    [{ type: 'about:blank', title: 'Not Found', status: 404, detail: 'No such video.' }, 'not_found', 'No such video.'],
    [{ title: 'Gone for lunch' }, 'not_found', 'Gone for lunch'],
    [{ code: 'no_video', message: 'None.', detail: 'Another.' }, 'no_video', 'None.'],
    [{ detail: ['a list'], title: 7 }, 'not_found', '{"detail":["a list"],"title":7}'],
  ])('%j is read as problem details', (body, code, message) => {
    expect(readError(404, JSON.stringify(body), createScrub([]))).toEqual({ code, message });
  });

  test('of more than 64 KiB is no error object: it may be anything', () => {
    const long = JSON.stringify({ error: { code: 'busy', message: 'wait a little', junk: 'x'.repeat(70_000) } });
    expect(readError(500, long, createScrub([]))).toMatchObject({ code: 'server_error' });
  });
});

describe('a success that cannot be read', () => {
  test.each([
    ['a web page', '<!doctype html><p>Log in', 'text/html', /a web page/],
    ['text', 'ok', 'text/plain', /a body that is not JSON/],
    ['nothing', '', 'application/json', /an empty body/],
    ['half of it', '{"id":"vid_1","sta', 'application/json', /a body that is not JSON/],
    ['another shape', '{"videos":[]}', 'application/json', /JSON of another shape/],
    ['null', 'null', 'application/json', /JSON of another shape/],
  ])('is an error of its own: %s', async (_, body, type, message) => {
    await using opened = openDaemonClient(base);
    nock(base).get('/videos/v').reply(200, body, { 'content-type': type });
    const error = await opened.client.videos.get('v').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnreadableAnswerError);
    expect(error).toMatchObject({ status: 200, code: 'unreadable_answer', message: expect.stringMatching(message) });
  });

  test('a web page is not a successful deletion either', async () => {
    await using opened = openDaemonClient(base);
    nock(base).delete('/videos/v').reply(200, '<html>Log in</html>', { 'content-type': 'text/html' });
    await expect(opened.client.videos.delete('v')).rejects.toThrow(UnreadableAnswerError);
  });

  test.each([
    [200, 'text/html'],
    [204, 'text/html; charset=UTF-8'],
  ])('nothing is no web page, whatever type it says it has: %i as %s', async (status, type) => {
    await using opened = openDaemonClient(base);
    const headers = { 'content-type': type };
    nock(base).delete('/videos/v').reply(status, '', headers).patch('/videos/v').reply(status, '', headers);
    await opened.client.videos.delete('v');
    expect(await opened.client.videos.update('v', {})).toBeNull();
  });

  test('an answer over 4 MiB is cut', async () => {
    await using opened = openDaemonClient(base);
    nock(base)
      .get('/feeds')
      .reply(200, Buffer.alloc(5 * 1024 * 1024, ' '));
    await expect(opened.client.feeds.list()).rejects.toMatchObject({ code: 'answer_too_long' });
  });
});
