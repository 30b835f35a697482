import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { SandboxOptions } from '../../packages/sandbox/src/options.ts';
import { readSample, until, type Json } from '../sandbox/running-sandbox.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { isSignedWith, startReceiver } from '../sandbox/webhooks/receiver.ts';
import { operations, type Operation } from '../../packages/sandbox/src/contract/document.ts';
import { schemaProblems } from '../../packages/sandbox/src/contract/schema-check.ts';
import { ServiceClient } from './service-client.ts';
import { startServer } from '../support/server.ts';

const transports: readonly [string, SandboxOptions][] = [
  ['http', {}],
  ['TLS', { tls: true }],
];

const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const HOUR_MS = 3_600_000;
const idsOf = (items: Json): string[] => items.map((item: { id: string }) => item.id);
const sorted = (value: object) => Object.keys(value).toSorted();

describe.each(transports)('the specification, rule by rule, over %s', (_name, transport) => {
  let service: ServiceClient;
  let ready: Json;
  beforeAll(async () => {
    service = await ServiceClient.start({ ...transport, requestsPerHour: 100_000 });
    ready = await service.upload('clip.mp4', { channel_id: 'ch_main', tags: ['a'] });
  });
  afterAll(() => service.service.sandbox.close());

  const call = (...request: Parameters<ServiceClient['call']>) => service.call(...request);
  const listed = async (query = '') => (await call('GET', `/videos${query}`)).body;
  const isListed = async (id: string, query = '') => idsOf((await listed(query)).data).includes(id);
  /** A service of its own, for what would disturb the others. */
  const alone = (options: SandboxOptions = {}) => ServiceClient.start({ ...transport, ...options });

  describe('§1 what the service does', () => {
    test('§1 a video is created, its file uploaded to the upload_url, and a feed published with it', async () => {
      const video = await service.create({ title: 'Chain', channel_id: 'ch_news' });
      const before = (await call('POST', '/feeds/feed_news/publish')).body.video_count;
      expect((await service.send('PUT', video.upload_url, { body: await readSample('clip.mp4') })).status).toBe(200);
      expect(await service.ended(video.id)).toMatchObject({ status: 'ready' });
      expect((await call('POST', '/feeds/feed_news/publish')).body.video_count).toBe(before + 1);
    });
  });

  describe('§2 resources', () => {
    test('§2.1 a video has the prefix vid_, its channel ch_, and duration in whole seconds', () => {
      expect(ready).toMatchObject({ id: expect.stringMatching(/^vid_/), channel_id: expect.stringMatching(/^ch_/) });
      expect(ready.duration).toBe(4);
      expect(ready.created_at).toMatch(ISO_UTC);
    });

    test('§2.1 list items carry id, title, status, duration, created_at, thumbnail_url, embed_url, and nothing else', async () => {
      const fields = ['id', 'title', 'status', 'duration', 'created_at', 'thumbnail_url', 'embed_url'];
      for (const item of (await listed()).data) expect(sorted(item)).toEqual(fields.toSorted());
    });

    test('§2.1 upload_url is returned only when a video is created', async () => {
      const { id, upload_url } = await service.create();
      expect(upload_url).toMatch(/^https?:/);
      expect((await call('GET', `/videos/${id}`)).body.data).not.toHaveProperty('upload_url');
      expect((await call('PATCH', `/videos/${id}`, { body: { title: 'T' } })).body.data).not.toHaveProperty(
        'upload_url',
      );
    });

    test('§2.1 thumbnail_url and embed_url lead to something', async () => {
      const thumbnail = await service.send('GET', ready.thumbnail_url, {});
      expect([thumbnail.status, thumbnail.headers.get('content-type')]).toEqual([
        200,
        expect.stringMatching(/^image\//),
      ]);
      const embed = await service.send('GET', ready.embed_url, {});
      expect([embed.status, embed.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/html/)]);
    });

    test('§2.1 source_url imports the file from a remote address', async () => {
      const clip = await readSample('clip.mp4');
      await using source = await startServer((_request, response) => response.end(clip));
      const { id } = await service.create({ source_url: source.origin });
      expect(await service.ended(id)).toMatchObject({ status: 'ready', source_url: source.origin, duration: 4 });
    });

    test('§2.2 a channel in the list has id with ch_, name, slug, video_count and created_at, not description', async () => {
      const { data } = (await call('GET', '/channels')).body;
      for (const channel of data) {
        expect(sorted(channel)).toEqual(['created_at', 'id', 'name', 'slug', 'video_count']);
        expect(channel.id).toMatch(/^ch_/);
        expect(channel.created_at).toMatch(ISO_UTC);
      }
    });

    test('§2.3 a feed has id with feed_, name, type, channel_id, url and last_published_at; one type is mrss', async () => {
      const { data } = (await call('GET', '/feeds')).body;
      for (const feed of data) {
        expect(sorted(feed)).toEqual(['channel_id', 'id', 'last_published_at', 'name', 'type', 'url']);
        expect(feed.id).toMatch(/^feed_/);
        expect((await service.send('GET', feed.url, {})).status).toBe(200);
      }
      expect(data.map((feed: { type: string }) => feed.type)).toContain('mrss');
    });

    test('§2.4 a publish result has feed_id, status published, published_at and video_count', async () => {
      expect((await call('POST', '/feeds/feed_main/publish')).body).toEqual({
        feed_id: 'feed_main',
        status: 'published',
        published_at: expect.stringMatching(ISO_UTC),
        video_count: 1,
      });
    });

    test('§2.5 video analytics and overview have the fields shown, of the period asked for', async () => {
      const period = { from: '2026-01-01', to: '2026-01-31' };
      const range = 'from=2026-01-01&to=2026-01-31';
      expect((await call('GET', `/analytics/videos?video_id=${ready.id}&${range}`)).body.data).toEqual({
        video_id: ready.id,
        period,
        views: expect.any(Number),
        unique_viewers: expect.any(Number),
        avg_watch_time_seconds: expect.any(Number),
        completion_rate: expect.any(Number),
      });
      const overview = (await call('GET', `/analytics/overview?${range}`)).body.data;
      expect(sorted(overview)).toEqual(['period', 'top_videos', 'total_views', 'unique_viewers']);
      expect(overview.period).toEqual(period);
    });

    test('§2.6 meta has page, per_page and total', async () => {
      const { meta } = await listed('?page=2&per_page=3&channel_id=ch_main');
      expect(meta).toEqual({ page: 2, per_page: 3, total: 1 });
    });
  });

  describe('§3 states', () => {
    test('§3 a video is pending on creation, then processing, then ready, or failed', async () => {
      let nowMs = Date.now();
      await using stopped = await alone({ nowMs: () => nowMs, processingMs: { min: 1000, max: 1000 } });
      const [good, bad] = [await stopped.create(), await stopped.create()];
      const states = async () => {
        const answers = await Promise.all([good, bad].map(({ id }) => stopped.call('GET', `/videos/${id}`)));
        return answers.map(({ body }) => body.data.status);
      };
      expect(await states()).toEqual(['pending', 'pending']);
      await stopped.send('PUT', good.upload_url, { body: await readSample('clip.mp4') });
      await stopped.send('PUT', bad.upload_url, { body: Buffer.from('no video') });
      expect(await states()).toEqual(['processing', 'processing']);
      nowMs += 1000;
      expect(await states()).toEqual(['ready', 'failed']);
    });

    test('§3 the list filter accepts processing, ready and failed', async () => {
      const broken = await service.upload('truncated.mp4');
      expect(await isListed(broken.id, '?status=failed')).toBe(true);
      expect(await isListed(broken.id, '?status=ready')).toBe(false);
      expect(await isListed(ready.id, '?status=ready&channel_id=ch_main')).toBe(true);
      expect((await listed('?status=processing')).data).toEqual([]);
    });

    test('§3 a deleted video is gone for ever, with its assets, out of all feeds and embeds at once', async () => {
      const video = await service.upload('clip.mp4', { channel_id: 'ch_podcast', title: 'To be deleted' });
      await call('POST', '/feeds/feed_podcast/publish');
      const feed = (await call('GET', '/feeds')).body.data.find((each: { id: string }) => each.id === 'feed_podcast');
      expect((await service.send('GET', feed.url, {})).body).toContain(video.id);
      await call('DELETE', `/videos/${video.id}`);
      expect((await call('GET', `/videos/${video.id}`)).status).toBe(404);
      expect(await isListed(video.id)).toBe(false);
      expect((await service.send('GET', feed.url, {})).body).not.toContain(video.id);
      expect((await service.send('GET', video.thumbnail_url, {})).status).toBe(404);
      const embed = await service.send('GET', video.embed_url, {});
      expect([embed.status, embed.headers.get('content-type')]).toEqual([404, expect.stringMatching(/^text\/html/)]);
      expect(embed.body).toMatch(/not found/i);
      expect(service.service.sandbox.files().some((file) => file.videoId === video.id)).toBe(false);
    });

    test('§3 a deleted video leaves nothing on disk', async () => {
      await using folder = await scratchDirectory();
      await using keeping = await alone({ dataDir: folder.path });
      const { id, thumbnail_url } = await keeping.upload('clip.mp4');
      await keeping.send('GET', thumbnail_url, {});
      const named = async () => (await readdir(folder.path, { recursive: true })).filter((name) => name.includes(id));
      expect(await named()).not.toEqual([]);
      await keeping.call('DELETE', `/videos/${id}`);
      expect(await named()).toEqual([]);
    });

    test('§3 a publish takes in the latest eligible videos, and last_published_at reflects it', async () => {
      const video = await service.upload('clip.mp4', { channel_id: 'ch_news' });
      const failed = await service.upload('truncated.mp4', { channel_id: 'ch_news' });
      const { published_at } = (await call('POST', '/feeds/feed_news/publish')).body;
      const feed = (await call('GET', '/feeds')).body.data.find((each: { id: string }) => each.id === 'feed_news');
      expect(feed.last_published_at).toBe(published_at);
      const document: string = (await service.send('GET', feed.url, {})).body;
      expect([document.includes(video.id), document.includes(failed.id)]).toEqual([true, false]);
    });
  });

  describe('§4 endpoints', () => {
    test('§4 answers are JSON, wrapped in data, except for those of create and publish', async () => {
      const wrapped = [
        '/videos',
        `/videos/${ready.id}`,
        '/channels',
        '/feeds',
        '/analytics/videos',
        '/analytics/overview',
      ];
      for (const path of wrapped) {
        const { body, headers } = await call('GET', path);
        expect([path, headers.get('content-type')]).toEqual([path, expect.stringMatching(/^application\/json/)]);
        expect(body).toHaveProperty('data');
      }
      expect(await service.create()).not.toHaveProperty('data');
      expect((await call('POST', '/feeds/feed_news/publish')).body).not.toHaveProperty('data');
    });

    test('§4 a request with a body must have Content-Type: application/json', async () => {
      for (const [method, path] of [
        ['POST', '/videos'],
        ['PATCH', `/videos/${ready.id}`],
        ['PATCH', '/channels/ch_main'],
      ] as const) {
        const answer = await call(method, path, { body: '{"title":"x"}', headers: { 'content-type': 'text/plain' } });
        expect([method, path, answer.status]).toEqual([method, path, 415]);
      }
    });

    test('§4.1 GET /videos: page is 1 and per_page 25 by default, per_page at most 100', async () => {
      expect((await listed()).meta).toMatchObject({ page: 1, per_page: 25 });
      expect((await listed('?per_page=100')).meta.per_page).toBe(100);
      expect((await call('GET', '/videos?per_page=101')).status).toBe(422);
    });

    test('§4.1 GET /videos: channel_id and status filter', async () => {
      expect(idsOf((await listed('?channel_id=ch_main')).data)).toEqual([ready.id]);
      expect((await listed('?channel_id=ch_main&status=failed')).meta.total).toBe(0);
    });

    test('§4.1 GET /videos: raising page until data is empty reads the whole library', async () => {
      const seen: string[] = [];
      for (let page = 1; ; page += 1) {
        const { data } = await listed(`?per_page=2&page=${page}`);
        if (data.length === 0) break;
        seen.push(...idsOf(data));
      }
      expect(seen.toSorted()).toEqual(idsOf((await listed('?per_page=100')).data).toSorted());
      expect(new Set(seen).size).toBe(seen.length);
    });

    test('§4.1 POST /videos answers the bare id, upload_url and status pending', async () => {
      const answer = await call('POST', '/videos', { body: { title: 'T', channel_id: 'ch_main' } });
      expect(answer.body).toEqual({ id: expect.any(String), upload_url: expect.any(String), status: 'pending' });
      await call('DELETE', `/videos/${answer.body.id}`);
    });

    test('§4.1 POST /videos: description and tags are optional and kept', async () => {
      const fields = { title: 'T', description: 'D', channel_id: 'ch_news', tags: ['x', 'y'] };
      const { id } = await service.create(fields);
      expect((await call('GET', `/videos/${id}`)).body.data).toMatchObject(fields);
    });

    test('§4.1 the file is sent with PUT, as the request body, and is stored as it is', async () => {
      const { id, upload_url } = await service.create();
      const clip = await readSample('clip.mp4');
      await service.send('PUT', upload_url, { body: clip });
      const stored = service.service.sandbox.files().find((file) => file.videoId === id);
      const sha256 = createHash('sha256').update(clip).digest('hex');
      expect(stored).toEqual({ videoId: id, sizeBytes: clip.length, sha256 });
    });

    test('§4.1 GET /videos/:id returns one video', async () => {
      expect((await call('GET', `/videos/${ready.id}`)).body.data).toMatchObject({ id: ready.id, title: 'A clip' });
    });

    test('§4.1 PATCH /videos/:id changes title, description and tags, each optional', async () => {
      const { id } = await service.create({ description: 'old', tags: ['old'] });
      const changed = async (body: object) => (await call('PATCH', `/videos/${id}`, { body })).body.data;
      expect(await changed({ title: 'new' })).toMatchObject({ title: 'new', description: 'old', tags: ['old'] });
      expect(await changed({ description: 'new' })).toMatchObject({ title: 'new', description: 'new', tags: ['old'] });
      expect(await changed({ tags: [] })).toMatchObject({ title: 'new', description: 'new', tags: [] });
      expect(await changed({})).toMatchObject({ title: 'new', description: 'new', tags: [] });
    });

    test('§4.1 DELETE /videos/:id cannot be undone: a second one finds nothing', async () => {
      const { id } = await service.create();
      expect((await call('DELETE', `/videos/${id}`)).status).toBe(204);
      expect((await call('DELETE', `/videos/${id}`)).status).toBe(404);
    });

    test('§4.2 GET /channels returns all channels; PATCH changes name, description and default_player_settings', async () => {
      expect(idsOf((await call('GET', '/channels')).body.data)).toEqual(['ch_main', 'ch_news', 'ch_podcast']);
      const settings = { name: 'Renamed', description: 'D', default_player_settings: { autoplay: true } };
      expect((await call('PATCH', '/channels/ch_podcast', { body: settings })).body.data).toMatchObject(settings);
      expect((await call('GET', '/channels')).body.data[2].name).toBe('Renamed');
    });

    test('§4.3 GET /feeds returns MRSS, podcast and CTV feeds', async () => {
      const types = (await call('GET', '/feeds')).body.data.map((feed: { type: string }) => feed.type);
      expect(new Set(types)).toEqual(new Set(['mrss', 'podcast', 'ctv']));
    });

    test('§4.3 POST /feeds/:id/publish takes no body', async () => {
      expect((await call('POST', '/feeds/feed_main/publish')).status).toBe(200);
      expect((await call('POST', '/feeds/feed_main/publish', { body: { force: true } })).status).toBe(422);
    });

    test('§4.4 GET /analytics/videos takes video_id, from, to and a channel', async () => {
      const query = `video_id=${ready.id}&channel_id=ch_main&from=2026-01-01&to=2026-01-02`;
      expect((await call('GET', `/analytics/videos?${query}`)).body.data.video_id).toBe(ready.id);
      const ofChannel = (await call('GET', '/analytics/videos?channel_id=ch_main')).body.data;
      expect(ofChannel.map((record: { video_id: string }) => record.video_id)).toEqual([ready.id]);
    });

    test('§4.4 GET /analytics/overview is of the account or of one channel', async () => {
      expect((await call('GET', '/analytics/overview')).status).toBe(200);
      expect((await call('GET', '/analytics/overview?channel_id=ch_main')).status).toBe(200);
      expect((await call('GET', '/analytics/overview?channel_id=ch_nobody')).status).toBe(404);
    });
  });

  describe('§5 authentication', () => {
    const anyPath = ({ path }: Operation) => path.replace('/v1', '').replace('{id}', ready.id);

    test.each(operations.filter(({ needsKey }) => needsKey).map((operation) => [operation.name, operation] as const))(
      '§5.1 %s needs the API key as a Bearer token',
      async (_operation, operation) => {
        for (const authorization of ['', 'Bearer wrong', `Basic ${btoa('a:b')}`, service.service.sandbox.apiKey]) {
          const answer = await call(operation.method, anyPath(operation), { headers: { authorization } });
          expect(answer).toMatchObject({ status: 401, body: { error: { code: 'unauthorized' } } });
        }
      },
    );

    const newKey = async (fields: object) => (await service.admin('POST', '/keys', fields)).body.data;
    const listWith = (key: string) => call('GET', '/videos', { headers: { authorization: `Bearer ${key}` } });

    test('§5.2, 5.3 a key is created with a name, and shown once', async () => {
      const created = await newKey({ name: 'Archive' });
      expect((await listWith(created.key)).status).toBe(200);
      const { body } = await service.admin('GET', '/keys');
      expect(body.data.find((key: { id: string }) => key.id === created.id)).toMatchObject({ name: 'Archive' });
      expect(JSON.stringify(body)).not.toContain(created.key);
    });

    test('§5.4, 5.6 keys can be listed, audited and revoked; a revoked one is unauthorized, the others still work', async () => {
      const [first, second] = [await newKey({ name: 'First' }), await newKey({ name: 'Second' })];
      await listWith(first.key);
      const listed = (await service.admin('GET', '/keys')).body.data.find((key: { id: string }) => key.id === first.id);
      expect(JSON.stringify(listed)).toMatch(/"(\w*use\w*)":1\b/);
      await service.admin('DELETE', `/keys/${first.id}`);
      expect(await listWith(first.key)).toMatchObject({ status: 401, body: { error: { code: 'unauthorized' } } });
      expect((await listWith(second.key)).status).toBe(200);
    });

    test('§5.5 a request over plain HTTP is rejected where the service speaks HTTPS', async () => {
      await using secure = await ServiceClient.start({ tls: true });
      const address = secure.service.sandbox.baseUrl.replace('https:', 'http:');
      const status = await new Promise((resolve) => {
        get(`${address}/videos`, { agent: false }, (response) => resolve(response.resume().statusCode)).on(
          'error',
          () => resolve('refused'),
        );
      });
      expect([400, 403, 426, 'refused']).toContain(status);
    });

    test('§5.8 a key that lacks permission gets forbidden', async () => {
      const { key } = await newKey({ name: 'Reader', read_only: true });
      expect((await listWith(key)).status).toBe(200);
      const answer = await call('DELETE', `/videos/${ready.id}`, { headers: { authorization: `Bearer ${key}` } });
      expect(answer).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
      expect((await call('GET', `/videos/${ready.id}`)).status).toBe(200);
    });
  });

  describe('§6 events', () => {
    test('§6 webhooks are signed, so that a receiver can verify them before processing', async () => {
      await using receiver = await startReceiver();
      const { id, secret } = (await service.admin('POST', '/webhooks', { url: receiver.url })).body.data;
      const video = await service.upload('clip.mp4');
      const event = await until(() => receiver.received[0]);
      expect(event.json).toEqual({ type: 'video.ready', timestamp: expect.stringMatching(ISO_UTC), data: video });
      expect(schemaProblems({ $ref: '#/components/schemas/VideoReadyEvent' }, event.json)).toEqual([]);
      expect(isSignedWith(secret, event)).toBe(true);
      expect(isSignedWith(secret, { ...event, text: `${event.text} ` })).toBe(false);
      expect((await service.admin('DELETE', `/webhooks/${id}`)).status).toBe(204);
    });
  });

  describe('§7 errors', () => {
    test.each([
      [401, 'unauthorized', 'GET', '/videos', { headers: { authorization: 'Bearer x' } }],
      [404, 'not_found', 'GET', '/videos/vid_nothere', {}],
      [404, 'not_found', 'PATCH', '/channels/ch_nothere', { body: { name: 'x' } }],
      [404, 'not_found', 'POST', '/feeds/feed_nothere/publish', {}],
      [404, 'not_found', 'GET', '/analytics/videos?video_id=vid_nothere', {}],
    ])('§7 %i has code %s and a message: %s %s', async (status, code, method, path, sent) => {
      const message = expect.stringMatching(/\w/);
      expect(await call(method, path, sent)).toMatchObject({ status, body: { error: { code, message } } });
    });

    test('§7 an unexpected error is 500 server_error, and says nothing of the inside', async () => {
      let nowMs = Date.now();
      await using broken = await alone({ nowMs: () => nowMs });
      const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
      nowMs = Number.NaN;
      const answer = await broken.call('POST', '/feeds/feed_main/publish');
      nowMs = Date.now();
      expect(answer).toMatchObject({ status: 500, body: { error: { code: 'server_error' } } });
      expect(answer.body.error.message).not.toMatch(/NaN|time|stack|sql/i);
      expect(warned).toHaveBeenCalled();
      warned.mockRestore();
    });
  });

  describe('§8 limits', () => {
    test('§8 requests are limited per key, over all endpoints; 429 is rate_limited', async () => {
      await using limited = await alone({ requestsPerHour: 4 });
      for (const path of ['/videos', '/channels', '/feeds', '/analytics/overview'])
        expect((await limited.call('GET', path)).status).toBe(200);
      expect(await limited.call('GET', '/videos')).toMatchObject({
        status: 429,
        body: { error: { code: 'rate_limited' } },
      });
      const { key } = (await limited.admin('POST', '/keys', { name: 'Another' })).body.data;
      expect((await limited.call('GET', '/videos', { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
    });

    test('§8 a 429 has a Retry-After in seconds, and waiting that long is enough', async () => {
      let nowMs = Date.now();
      await using limited = await alone({ requestsPerHour: 1, nowMs: () => nowMs });
      await limited.call('GET', '/videos');
      nowMs += 10_000;
      const retryAfter = (await limited.call('GET', '/videos')).headers.get('retry-after');
      expect(retryAfter).toBe(String(HOUR_MS / 1000 - 10));
      nowMs += Number(retryAfter) * 1000;
      expect((await limited.call('GET', '/videos')).status).toBe(200);
    });

    test('§8 1,000 requests per hour by default', async () => {
      await using usual = await alone({ nowMs: () => 0 });
      const answers: number[] = [];
      // As many connections at once as a busy machine can serve.
      while (answers.length < 1001)
        answers.push(
          ...(await Promise.all(
            Array.from({ length: 77 }, async () => (await usual.call('HEAD', '/channels')).status),
          )),
        );
      expect(answers.filter((status) => status === 200)).toHaveLength(1000);
      expect(answers.filter((status) => status === 429)).toHaveLength(1);
    });
  });

  test('the contract itself can be read at /openapi.yaml', async () => {
    const { status, headers, body } = await service.send('GET', new URL('/openapi.yaml', ready.embed_url).href, {});
    expect([status, headers.get('content-type')]).toEqual([200, 'application/yaml']);
    expect(body).toBe(await readFile(new URL('../../packages/sandbox/openapi.yaml', import.meta.url), 'utf8'));
  });

  describe('§9 versioning', () => {
    test('§9 the version is the path segment /v1 of the base address', async () => {
      const { baseUrl } = service.service.sandbox;
      expect(new URL(baseUrl).pathname).toBe('/v1');
      expect(baseUrl.startsWith(transport.tls ? 'https://' : 'http://')).toBe(true);
      expect((await service.send('GET', baseUrl.replace('/v1', '/v2/videos'), {})).status).toBe(404);
    });
  });
});
