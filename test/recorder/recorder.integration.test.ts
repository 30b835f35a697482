import { readFile, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { ConnectionError } from '@dropcast/client';
import { startRecorder } from '../../packages/recorder/src/recorder.ts';
import { startReplay } from '../../packages/recorder/src/replay.ts';
import { startHost } from '../client/upload-host.ts';
import { openClient } from '../client/open-client.ts';
import { admin } from '../sandbox/admin/admin-side.ts';
import { runSandbox } from '../sandbox/running-sandbox.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';
import { clientAt, recorded } from './recorded.ts';

const clip = new URL('../media/clip.mp4', import.meta.url).pathname;

describe('a recorder between a program and a service', () => {
  test.each([false, true])('passes everything on, an upload included, and keeps no secret (https: %s)', async (tls) => {
    await using running = await runSandbox({ tls });
    const { sandbox } = running;
    const ca = sandbox.caPath === undefined ? {} : { ca: await readFile(sandbox.caPath, 'utf8') };
    let realAddress = '';
    const { recording, text, comparison } = await recorded(
      sandbox.baseUrl,
      async (recorder) => {
        await using client = clientAt(recorder, sandbox.apiKey);
        const created = await client.videos.create({ title: 'Recorded', channelId: 'ch_news' });
        expect(created.uploadUrl).toMatch(
          new RegExp(`^${recorder.baseUrl.replace('/v1', '')}/uploads/${created.id}/1-`),
        );
        await client.videos.send(clip, created);
        const video = await client.videos.waitUntilReady(created.id, { intervalMs: 1000 });
        expect(video.title).toBe('Recorded');
        const { uploadUrl } = await client.videos.create({ title: 'Direct' });
        realAddress = uploadUrl ?? '';
        await client.videos.list().toArray();
        await client.feeds.publish('feed_news');
        await client.videos.delete(created.id);
        await expect(client.videos.get(created.id)).rejects.toThrow('not_found');
      },
      ca,
    );
    expect(recording.isTorn).toBe(false);
    expect(recording.exchanges.map(({ method, target, answer }) => `${method} ${target} ${answer?.status}`)).toEqual(
      expect.arrayContaining([
        'POST /v1/videos 201',
        expect.stringMatching(/^PUT \/uploads\/vid_\w+\/1 200$/),
        'GET /v1/videos?page=1&per_page=100 200',
        'POST /v1/feeds/feed_news/publish 200',
      ]),
    );
    expect(text).not.toContain(sandbox.apiKey);
    expect(text).not.toContain(realAddress.slice(-22));
    expect(text).not.toMatch(/sk_sandbox|\/uploads\/[^"]*-[\w-]{22}/);
    expect(text).toContain('Bearer [hidden key 1]');
    expect(comparison.violated).toEqual([]);
    expect(comparison.contradicted).toEqual([]);
    expect(comparison.unknown).toEqual([]);
    expect(comparison.confirmed.length).toBeGreaterThan(20);
  });

  test.each([
    ['resumable-sessions', 'content_range', 1, ['PUT broken', 'PUT 308', 'PUT 200']],
    ['tus', 'tus', 2, ['PUT 405', 'HEAD 200', 'PATCH broken', 'HEAD 200', 'PATCH 204']],
  ] as const)(
    'passes on an upload that is continued (%s), and hides its session',
    async (profile, form, nth, asked) => {
      await using running = await runSandbox({ profile });
      const { sandbox } = running;
      const cut = { kind: 'reset', operation: 'uploads.put', of: 'request', after_bytes: 30_000, nth };
      await admin(running, 'PUT /faults', [cut]);
      const upload = async ({ baseUrl }: { readonly baseUrl: string }) => {
        await using opened = openClient(baseUrl, { apiKey: sandbox.apiKey });
        return await opened.client.videos.upload(clip, { title: 'Continued' });
      };
      const { recording, text, comparison } = await recorded(sandbox.baseUrl, async (recorder) => {
        const { id, sha256, sizeBytes } = await upload(recorder);
        expect(sandbox.files()).toEqual([{ videoId: id, sha256, sizeBytes }]);
      });
      const uploads = recording.exchanges.filter(({ target }) => target.startsWith('/uploads/'));
      expect(uploads.map(({ method, broken, answer }) => `${method} ${broken ? 'broken' : answer?.status}`)).toEqual(
        asked,
      );
      expect(text).not.toMatch(/upload_id=[0-9a-f]{32}|\/uploads\/[^"]*-[\w-]{22}/);
      expect(comparison.switches).toEqual({ upload_protocol: form });
      expect(JSON.stringify(comparison.unknown)).not.toContain('PATCH');
      // A 308 without a target asks for the rest of the file.
      expect(JSON.stringify(comparison)).not.toContain('redirects');
      await using replay = await startReplay(recording);
      expect(await upload(replay)).toMatchObject({ sizeBytes: (await stat(clip)).size });
      expect(replay.unused().filter(({ target }) => target.startsWith('/uploads/'))).toEqual([]);
    },
  );

  test('asks a session at its real address, with nothing added', async () => {
    const path = '/u?uploadType=resumable&upload_id=opaque-session';
    await using host = await startHost((request, response) => {
      request.resume();
      const created = { id: 'vid_1', upload_url: host.origin + path, status: 'pending' };
      request.on('end', () => response.setHeader('content-type', 'application/json').end(JSON.stringify(created)));
    });
    const { text } = await recorded(`${host.origin}/v1`, async (recorder) => {
      await using client = clientAt(recorder, 'sk_key_000000');
      await client.videos.upload(clip, { title: 'Once' });
    });
    expect(host.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['POST /v1/videos', `PUT ${path}`]);
    expect(text).not.toContain('opaque-session');
  });

  test('keeps a title with line separators', async () => {
    await using running = await runSandbox();
    const title = 'One\u2028two\u2029three\u0085four';
    const { recording } = await recorded(running.sandbox.baseUrl, async (recorder) => {
      await using client = clientAt(recorder, running.sandbox.apiKey);
      await client.videos.create({ title });
    });
    expect(recording.exchanges[0]?.request.body).toEqual({ json: expect.objectContaining({ title }) });
  });

  test('keeps the hash and the size of a file, and not the file', async () => {
    await using running = await runSandbox();
    const { recording } = await recorded(running.sandbox.baseUrl, async (recorder) => {
      await using client = clientAt(recorder, running.sandbox.apiKey);
      await client.videos.upload(clip, { title: 'Once' });
    });
    const upload = recording.exchanges.find(({ method }) => method === 'PUT');
    const { size } = await stat(clip);
    expect(upload?.request.body).toEqual({ bytes: size, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test('does not record the texts of redacted fields, and equal ones stay equal', async () => {
    await using running = await runSandbox();
    const { text, recording } = await recorded(
      running.sandbox.baseUrl,
      async (recorder) => {
        await using client = clientAt(recorder, running.sandbox.apiKey);
        await client.videos.create({ title: 'A private matter' });
        await client.videos.list().toArray();
      },
      { redact: ['title'] },
    );
    expect(text).not.toContain('private');
    const titles = JSON.stringify(recording.exchanges).match(/\[hidden title \d+\]/g);
    expect(new Set(titles)).toEqual(new Set(['[hidden title 1]']));
  });

  test('notes an answer that breaks, and breaks it for the program too', async () => {
    await using running = await runSandbox();
    const { adminUrl, adminToken, baseUrl, apiKey } = running.sandbox;
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ kind: 'answer_lost', times: 1 });
    await fetch(`${adminUrl}/faults`, { method: 'POST', headers, body });
    const { recording, comparison } = await recorded(baseUrl, async (recorder) => {
      await using client = clientAt(recorder, apiKey);
      await expect(client.channels.list()).rejects.toThrow(ConnectionError);
      await client.channels.list();
    });
    expect(recording.exchanges.map(({ broken }) => broken !== undefined)).toEqual([true, false]);
    expect(comparison.broken).toEqual([{ exchange: 1, what: expect.any(String) }]);
  });

  test('answers 502 with the reason where the service cannot be reached', async () => {
    const { recording } = await recorded('http://127.0.0.1:1/v1', async (recorder) => {
      const answer = await fetch(`${recorder.baseUrl}/videos`);
      expect(answer.status).toBe(502);
      expect(await answer.text()).toContain('ECONNREFUSED');
    });
    expect(recording.exchanges).toMatchObject([{ broken: 'ECONNREFUSED' }]);
  });

  test('says that a certificate is not trusted, and what to do', async () => {
    await using running = await runSandbox({ tls: true });
    const { recording } = await recorded(running.sandbox.baseUrl, async (recorder) => {
      const answer = await fetch(`${recorder.baseUrl}/videos`);
      expect(answer.status).toBe(502);
      expect(await answer.text()).toMatch(/certificate is not trusted .+--ca/);
    });
    expect(recording.exchanges).toHaveLength(1);
  });

  test('stops the request to the service when the program goes away', async () => {
    await using running = await runSandbox();
    const { recording } = await recorded(running.sandbox.baseUrl, async (recorder) => {
      await using client = clientAt(recorder, running.sandbox.apiKey);
      const created = await client.videos.create({ title: 'Left' });
      await until('the creation is recorded', () => recorder.underWay === 0);
      const upload = request(created.uploadUrl ?? '', { method: 'PUT', headers: { 'content-length': 1_000_000 } });
      upload.on('error', () => {});
      upload.write(Buffer.alloc(1000));
      await until('the recorder has the upload', () => recorder.underWay === 1);
      upload.destroy();
    });
    expect(recording.exchanges.at(-1)).toMatchObject({ method: 'PUT', broken: 'the program closed the connection' });
  });

  test('serves this machine alone, and only what it knows', async () => {
    await using running = await runSandbox();
    const { recording } = await recorded(running.sandbox.baseUrl, async (recorder) => {
      const origin = recorder.baseUrl.replace('/v1', '');
      expect((await fetch(`${origin}/elsewhere`)).status).toBe(404);
      expect((await fetch(`${origin}/uploads/vid_1/1-guess`)).status).toBe(404);
      const foreign = request(`${recorder.baseUrl}/videos`, { headers: { host: 'evil.example' } }).end();
      const [answer] = await once(foreign, 'response');
      expect(answer.statusCode).toBe(421);
      answer.resume();
    });
    expect(recording.exchanges).toEqual([]);
  });

  test.each([
    ['http://video.example.com/v1', /https:/],
    ['ftp://video.example.com', /web address/],
    ['https://me:secret@video.example.com/v1', /user name/],
    ['https://video.example.com/v1?key=1', /query/],
  ])('is not started for %s', async (to, why) => {
    await using folder = await scratchDirectory();
    await expect(startRecorder({ to, file: folder.file('r') })).rejects.toThrow(why);
  });

  test('overwrites no recording', async () => {
    await using folder = await scratchDirectory();
    const options = { to: 'https://video.example.com/v1', file: folder.file('r') };
    await using first = await startRecorder(options);
    expect((await stat(options.file)).mode & 0o777).toBe(0o600);
    await expect(startRecorder(options)).rejects.toThrow('EEXIST');
    await first.close();
  });
});

test('a recording is replayed to the program that made it, with another key and other addresses', async () => {
  await using running = await runSandbox();
  const work = async (place: { readonly baseUrl: string }, key: string): Promise<unknown[]> => {
    await using client = clientAt(place, key);
    const created = await client.videos.create({ title: 'Again', channelId: 'ch_news', tags: ['a'] });
    const { sha256 } = await client.videos.send(clip, created);
    const ready = await client.videos.waitUntilReady(created.id, { intervalMs: 1000 });
    const list = await client.videos.list().toArray();
    return [created.id, sha256, ready.duration, list.length, (await client.feeds.publish('feed_news')).videoCount];
  };
  let first: unknown[] = [];
  const { recording } = await recorded(running.sandbox.baseUrl, async (recorder) => {
    first = await work(recorder, running.sandbox.apiKey);
  });
  const misses: string[] = [];
  await using replay = await startReplay({ exchanges: recording.exchanges, onMiss: (miss) => misses.push(miss) });
  expect(await work(replay, 'another-key')).toEqual(first);
  expect(misses).toEqual([]);
  expect(replay.unused()).toEqual([]);
  await using client = clientAt(replay, 'another-key');
  await expect(client.videos.get('vid_other')).rejects.toThrow(/GET \/v1\/videos\/vid_other was not recorded/);
  await expect(client.videos.create({ title: 'Another' })).rejects.toThrow(/with another body/);
  expect(misses).toHaveLength(2);
});
