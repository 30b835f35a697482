import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  AddressDeadError,
  ConnectionError,
  NotFoundError,
  RateLimitedError,
  RedirectError,
  RequestTimeoutError,
  ServerError,
  UnreadableAnswerError,
  UploadConflictError,
  UploadStalledError,
} from '../../../packages/client/src/errors.ts';
import { openDaemonClient, type Opened } from '../../client/daemon-client.ts';
import { runSandbox, type RunningSandbox } from '../running-sandbox.ts';
import { planFaults } from './plan-faults.ts';

let sandbox: RunningSandbox;
let client: Opened;
beforeAll(async () => {
  sandbox = await runSandbox({ requestsPerHour: 100_000 });
  const { baseUrl, apiKey } = sandbox.sandbox;
  client = openDaemonClient(baseUrl, { apiKey, timeoutMs: 1000 });
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await sandbox.sandbox.close();
});
beforeEach(() => planFaults(sandbox));

const list = () => client.client.videos.list({ perPage: 10 }).page(1);
const create = () => client.client.videos.create({ title: 'x', channelId: 'ch_news', tags: [] });

/** What it rejects with. */
async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
}

async function upload(stallTimeoutMs = 5000): Promise<unknown> {
  const { uploadUrl } = await create();
  const path = fileURLToPath(new URL('../../media/clip.mp4', import.meta.url));
  return client.send(path, uploadUrl ?? '', {
    signal: AbortSignal.timeout(20_000),
    stallTimeoutMs,
    answerTimeoutMs: stallTimeoutMs, // the clip fits into the buffers of the system
  });
}

describe("the client's error for each fault", () => {
  test.each([
    ['status 500', { kind: 'status', status: 500 }, ServerError, {}],
    ['status 404', { kind: 'status', status: 404, code: 'not_found' }, NotFoundError, { code: 'not_found' }],
    ['429 in seconds', { kind: 'rate_limited', seconds: 30 }, RateLimitedError, { retryAfterMs: 30_000 }],
    [
      '429 with a date',
      { kind: 'rate_limited', retry_after: 'date', seconds: 90 },
      RateLimitedError,
      { retryAfterMs: 90_000 },
    ],
    [
      '429 without a time',
      { kind: 'rate_limited', retry_after: 'absent' },
      RateLimitedError,
      { retryAfterMs: undefined },
    ],
    ['429 with -1', { kind: 'rate_limited', retry_after: 'absurd' }, RateLimitedError, { retryAfterMs: undefined }],
    ['the page of a proxy', { kind: 'html_502' }, ServerError, { status: 502 }],
    ['a redirect', { kind: 'redirect' }, RedirectError, { by: 'service' }],
    ['a delay beyond its patience', { kind: 'delay', ms: 60_000 }, RequestTimeoutError, { sent: true }],
    ['an answer that stalls', { kind: 'stall', of: 'answer', after_bytes: 5 }, RequestTimeoutError, { sent: true }],
    ['an answer that is reset', { kind: 'reset', of: 'answer', after_bytes: 5 }, ConnectionError, { sent: true }],
    ['a lost answer', { kind: 'answer_lost' }, ConnectionError, { sent: true }],
    ['truncated JSON', { kind: 'truncated_json' }, UnreadableAnswerError, {}],
  ])('%s', async (_what, rule, type, facts) => {
    await planFaults(sandbox, { ...rule, operation: 'videos.list' });
    const error = await failure(list());
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject(facts);
  });

  test('a created video whose connection was dropped', async () => {
    await planFaults(sandbox, { kind: 'drop_after_create' });
    expect(await failure(create())).toMatchObject({ name: 'ConnectionError', sent: true });
  });

  test('an unknown status and extra fields are taken as they are', async () => {
    await create();
    await planFaults(sandbox, { kind: 'unknown_status', status: 'archived', times: 1 }, { kind: 'extra_fields' });
    expect((await list()).videos[0]?.status).toBe('archived');
    expect((await list()).videos[0]?.status).toBe('pending');
  });
});

describe("the client's error for each fault of an upload", () => {
  test.each([
    ['an expired address', { kind: 'expired_address' }, AddressDeadError],
    ['a refused second PUT', { kind: 'second_put_refused' }, UploadConflictError],
    ['a stall in the body', { kind: 'stall', of: 'request', after_bytes: 1000 }, UploadStalledError],
    ['a reset in the body', { kind: 'reset', of: 'request', after_bytes: 1000 }, ConnectionError],
    ['a lost answer', { kind: 'answer_lost' }, ConnectionError],
    ['a redirect', { kind: 'redirect' }, RedirectError],
  ])('%s', async (_what, rule, type) => {
    await planFaults(sandbox, { ...rule, operation: 'uploads.put' });
    expect(await failure(upload(rule.kind === 'stall' ? 300 : 15_000))).toBeInstanceOf(type);
  });
});
