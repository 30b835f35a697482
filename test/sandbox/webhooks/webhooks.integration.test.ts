import { describe, expect, test } from 'vitest';
import { schemas } from '../../../packages/sandbox/src/contract/document.ts';
import { schemaProblems } from '../../../packages/sandbox/src/contract/schema-check.ts';
import { admin } from '../admin/admin-side.ts';
import { runSandbox, until, type Json, type RunningSandbox } from '../running-sandbox.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { isSignedWith, startReceiver, type Receiver } from './receiver.ts';

const START_MS = Date.UTC(2026, 0, 1);

/** A sandbox whose clock stands still until the test moves it. */
async function runFrozen(dataDir?: string): Promise<RunningSandbox & { pass: (ms: number) => Promise<void> }> {
  const service = await runSandbox({ nowMs: () => START_MS, ...(dataDir !== undefined && { dataDir }) });
  const pass = async (ms: number) => void (await admin(service, 'POST /clock/advance', { ms }));
  return Object.assign(service, { pass });
}

async function register(
  service: RunningSandbox,
  url: string,
  events?: string[],
): Promise<{ id: string; secret: string }> {
  const { status, body } = await admin(service, 'POST /webhooks', { url, ...(events && { events }) });
  if (status !== 201) throw new Error(`POST /webhooks answered ${status}: ${JSON.stringify(body)}`);
  return body.data;
}

const deliveries = async (service: RunningSandbox, id: string): Promise<Json[]> =>
  (await admin(service, `GET /webhooks/${id}/deliveries`)).body.data;
const count = (receiver: Receiver, least: number) =>
  until(() => (receiver.received.length >= least ? true : undefined));
const publish = (service: RunningSandbox, feed = 'feed_news') => service.call('POST', `/feeds/${feed}/publish`);
const types = ({ received }: Receiver) => received.map(({ json }) => json.type);
const attempts = (service: RunningSandbox, id: string, least: number) =>
  until(async () => ((await deliveries(service, id)).at(-1)?.attempts >= least ? true : undefined));

const CONTRACT: Record<string, string> = {
  'video.ready': 'VideoReadyEvent',
  'video.failed': 'VideoFailedEvent',
  'feed.published': 'FeedPublishedEvent',
};

describe('deliveries (6, all assumed)', () => {
  test('6 video.ready, signed, with the video as GET gives it', async () => {
    await using service = await runSandbox();
    await using receiver = await startReceiver();
    const { secret } = await register(service, receiver.url);
    const video = await service.upload('clip.mp4', { title: 'Ü "quoted" <b>' });
    await count(receiver, 1);
    const [received] = receiver.received;
    expect(received?.json).toEqual({ type: 'video.ready', timestamp: expect.any(String), data: video });
    expect(received?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'dropcast-sandbox-webhooks',
      'webhook-id': expect.stringMatching(/^msg_[0-9a-z]{16}$/),
    });
    expect(received && isSignedWith(secret, received)).toBe(true);
    expect(received && isSignedWith('whsec_AAAA', received)).toBe(false);
    expect(Math.abs(Number(received?.headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60);
  });

  test('6 video.failed has the error', async () => {
    await using service = await runSandbox();
    await using receiver = await startReceiver();
    await register(service, receiver.url);
    const { id, upload_url } = await service.create();
    await fetch(upload_url, { method: 'PUT', body: 'no video' });
    await count(receiver, 1);
    expect(receiver.received[0]?.json).toMatchObject({
      type: 'video.failed',
      data: { id, status: 'failed', error: { code: expect.any(String) } },
    });
  });

  test('6 feed.published has the publish result', async () => {
    await using service = await runFrozen();
    await using receiver = await startReceiver();
    await register(service, receiver.url);
    const { body } = await publish(service);
    await count(receiver, 1);
    expect(receiver.received[0]?.json).toEqual({
      type: 'feed.published',
      timestamp: body.published_at,
      data: body,
    });
  });

  test('6 payloads match the contract', async () => {
    await using service = await runSandbox();
    await using receiver = await startReceiver();
    await register(service, receiver.url);
    await service.upload('clip.mp4');
    const { upload_url } = await service.create();
    await fetch(upload_url, { method: 'PUT', body: 'no video' });
    await count(receiver, 2);
    await publish(service);
    await count(receiver, 3);
    const problems = receiver.received.flatMap(({ json }) =>
      schemaProblems(schemas[CONTRACT[json.type] ?? ''] ?? {}, json),
    );
    expect([types(receiver), problems]).toEqual([Object.keys(CONTRACT), []]);
  });

  test('only to webhooks that subscribe to the event', async () => {
    await using service = await runSandbox();
    await using feeds = await startReceiver();
    await using videos = await startReceiver();
    await register(service, feeds.url, ['feed.published']);
    await register(service, videos.url, ['video.ready', 'video.failed']);
    await service.upload('clip.mp4');
    await publish(service);
    await Promise.all([count(feeds, 1), count(videos, 1)]);
    expect([types(feeds), types(videos)]).toEqual([['feed.published'], ['video.ready']]);
  });
});

describe('successful attempts', () => {
  test.each([
    [200, 'delivered', null],
    [299, 'delivered', null],
    [404, 'waiting', 'The address answered with status 404.'],
    [500, 'waiting', 'The address answered with status 500.'],
  ])('%i: %s', async (status, state, error) => {
    await using service = await runFrozen();
    await using receiver = await startReceiver();
    receiver.answer = (response) => response.writeHead(status).end('x'.repeat(100_000));
    const { id } = await register(service, receiver.url);
    await publish(service);
    await attempts(service, id, 1);
    expect(await deliveries(service, id)).toMatchObject([{ state, status, error, attempts: 1 }]);
  });

  test('a redirect is a failure, and is not followed', async () => {
    await using service = await runFrozen();
    await using receiver = await startReceiver();
    receiver.answer = (response) => response.writeHead(307, { location: `${receiver.url}/elsewhere` }).end();
    const { id } = await register(service, receiver.url);
    await publish(service);
    await attempts(service, id, 1);
    expect(await deliveries(service, id)).toMatchObject([{ state: 'waiting', status: 307 }]);
    expect(receiver.received).toHaveLength(1);
  });

  test('a refused connection is a failure with a reason', async () => {
    await using service = await runFrozen();
    const { id } = await register(service, 'http://127.0.0.1:9/');
    await publish(service);
    await attempts(service, id, 1);
    expect(await deliveries(service, id)).toMatchObject([
      { state: 'waiting', status: null, error: 'It could not be delivered: ECONNREFUSED.' },
    ]);
  });
});

describe('when it fails', () => {
  test('it is tried again after 5 s, 30 s, 2 min, 10 min and 1 h of the sandbox clock, the same id and body each time', async () => {
    await using service = await runFrozen();
    await using receiver = await startReceiver();
    receiver.answer = (response) => response.writeHead(503).end();
    const { id, secret } = await register(service, receiver.url);
    await publish(service);
    let attempt = 1;
    await attempts(service, id, attempt);
    for (const waitMs of [5_000, 30_000, 120_000, 600_000, 3_600_000]) {
      await service.pass(waitMs - 1);
      expect(receiver.received).toHaveLength(attempt);
      await service.pass(1);
      attempt += 1;
      await attempts(service, id, attempt);
    }
    const [delivery] = await deliveries(service, id);
    expect(delivery).toMatchObject({ state: 'given up', attempts: 6, status: 503, next_attempt_at: null });
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([delivery.id]));
    expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(1);
    expect(receiver.received.every((received) => isSignedWith(secret, received))).toBe(true);
    for (const { headers } of receiver.received)
      expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60); // whatever the sandbox's clock says
  });

  test('later events of the same webhook wait, and arrive in order; other webhooks continue', async () => {
    await using service = await runFrozen();
    await using failing = await startReceiver();
    await using fine = await startReceiver();
    failing.answer = (response) => response.writeHead(failing.received.length === 1 ? 500 : 200).end();
    await register(service, failing.url);
    await register(service, fine.url);
    for (const feed of ['feed_news', 'feed_main', 'feed_podcast']) await publish(service, feed);
    await count(fine, 3);
    expect(failing.received).toHaveLength(1);
    await service.pass(5_000);
    await count(failing, 4);
    const order = ({ received }: Receiver) => received.map(({ json }) => json.data.feed_id);
    expect(order(fine)).toEqual(['feed_news', 'feed_main', 'feed_podcast']);
    expect(order(failing)).toEqual(['feed_news', 'feed_news', 'feed_main', 'feed_podcast']);
  });

  test('an address that never answers delays no other webhook', async () => {
    await using service = await runSandbox();
    await using silent = await startReceiver();
    await using fine = await startReceiver();
    silent.answer = () => undefined;
    await register(service, silent.url);
    await register(service, fine.url);
    await publish(service);
    await publish(service);
    await count(fine, 2);
    expect(silent.received).toHaveLength(1);
  });

  test('a restart resumes, and delivers events of the downtime', async () => {
    await using folder = await scratchDirectory();
    await using receiver = await startReceiver();
    receiver.answer = (response) => response.writeHead(500).end();
    let nowMs = START_MS;
    const options = { dataDir: folder.path, nowMs: () => nowMs, processingMs: { min: 60_000, max: 60_000 } };
    {
      await using first = await runSandbox(options);
      const { id } = await register(first, receiver.url);
      await publish(first);
      const { upload_url } = await first.create();
      await fetch(upload_url, { method: 'PUT', body: 'no video' });
      await attempts(first, id, 1);
    }
    nowMs += 60_000;
    receiver.answer = (response) => response.writeHead(204).end();
    await using second = await runSandbox(options);
    await count(receiver, 3);
    expect(second.sandbox.files()).toHaveLength(1);
    expect(types(receiver)).toEqual(['feed.published', 'feed.published', 'video.failed']);
  });

  test('closing aborts a delivery in progress; the next start repeats it', async () => {
    await using folder = await scratchDirectory();
    await using receiver = await startReceiver();
    receiver.answer = () => undefined;
    const first = await runSandbox({ dataDir: folder.path });
    await register(first, receiver.url);
    await publish(first);
    await count(receiver, 1);
    await first.sandbox.close();
    receiver.answer = (response) => response.writeHead(204).end();
    await using second = await runSandbox({ dataDir: folder.path });
    await count(receiver, 2);
    const [{ id }] = (await admin(second, 'GET /webhooks')).body.data;
    await until(async () => ((await deliveries(second, id))[0].state === 'delivered' ? true : undefined));
    expect((await deliveries(second, id))[0].attempts).toBe(1);
  });

  test('redeliver starts over, also after a success', async () => {
    await using service = await runFrozen();
    await using receiver = await startReceiver();
    const { id } = await register(service, receiver.url);
    await publish(service);
    await until(async () => ((await deliveries(service, id))[0]?.state === 'delivered' ? true : undefined));
    const [delivery] = await deliveries(service, id);
    const again = await admin(service, `POST /webhooks/${id}/deliveries/${delivery.id}/redeliver`);
    expect(again).toMatchObject({ status: 202, body: { data: { id: delivery.id, attempts: 0 } } });
    await count(receiver, 2);
    expect(receiver.received[1]?.headers['webhook-id']).toBe(receiver.received[0]?.headers['webhook-id']);
  });
});

describe('the admin side of webhooks', () => {
  test('shows the secret once, and lists without it', async () => {
    await using service = await runSandbox();
    const { id, secret } = await register(service, 'http://localhost:9/hook');
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    const listed = await admin(service, 'GET /webhooks');
    expect(listed.body.data).toEqual([
      {
        id,
        url: 'http://localhost:9/hook',
        events: ['video.ready', 'video.failed', 'feed.published'],
        created_at: expect.any(String),
      },
    ]);
    expect(JSON.stringify(listed.body)).not.toContain(secret);
  });

  test('a removed webhook receives nothing more, not even waiting events', async () => {
    await using service = await runFrozen();
    await using receiver = await startReceiver();
    receiver.answer = (response) => response.writeHead(500).end();
    const { id } = await register(service, receiver.url);
    await publish(service);
    await attempts(service, id, 1);
    expect((await admin(service, `DELETE /webhooks/${id}`)).status).toBe(204);
    await service.pass(3_600_000);
    await publish(service);
    expect(receiver.received).toHaveLength(1);
    for (const [method, path] of [
      ['DELETE', `/webhooks/${id}`],
      ['GET', `/webhooks/${id}/deliveries`],
      ['POST', `/webhooks/${id}/deliveries/msg_x/redeliver`],
    ] as const)
      expect(await admin(service, `${method} ${path}`)).toMatchObject({
        status: 404,
        body: { error: { code: 'not_found' } },
      });
  });

  test.each([
    [{}, 'url: is missing'],
    [{ url: 'ftp://127.0.0.1/' }, 'must be an http or https address'],
    [{ url: 'http://user:word@127.0.0.1/' }, 'must be an http or https address'],
    [{ url: 'https://example.com/' }, 'must be an address of this machine'],
    [{ url: 'http://127.0.0.1/', events: [] }, 'must name at least one event'],
    [{ url: 'http://127.0.0.1/', events: ['video.stolen'] }, 'must be video.ready, video.failed, feed.published'],
    [{ url: 'http://127.0.0.1/', secret: 'whsec_mine' }, 'unknown field "secret"'],
  ])('refuses %j', async (registration, sentence) => {
    await using service = await runSandbox();
    const { status, body } = await admin(service, 'POST /webhooks', registration);
    expect([status, body.error.code]).toEqual([422, 'invalid_request']);
    expect(body.error.message).toContain(sentence);
  });

  test('other hosts are taken when they are allowed', async () => {
    await using service = await runSandbox({ importFrom: 'anywhere' });
    expect((await register(service, 'https://example.invalid/')).id).toMatch(/^wh_/);
  });

  test('lists the newest deliveries first, as many as wanted', async () => {
    await using service = await runSandbox();
    await using receiver = await startReceiver();
    const { id } = await register(service, receiver.url);
    for (const feed of ['feed_news', 'feed_main', 'feed_podcast']) await publish(service, feed);
    await count(receiver, 3);
    const newest = await admin(service, `GET /webhooks/${id}/deliveries?limit=2`);
    expect(newest.body.data.map((delivery: Json) => delivery.payload.data.feed_id)).toEqual([
      'feed_podcast',
      'feed_main',
    ]);
    for (const limit of ['0', '1001', 'all'])
      expect((await admin(service, `GET /webhooks/${id}/deliveries?limit=${limit}`)).status).toBe(422);
  });
});
