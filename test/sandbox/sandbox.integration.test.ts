import dns, { type LookupOptions } from 'node:dns';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { connect, type LookupFunction } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { SandboxOptions } from '../../packages/sandbox/src/options.ts';
import { startSandbox } from '../../packages/sandbox/src/sandbox.ts';
import { put, readSample, runSandbox, until } from './running-sandbox.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { startServer } from '../support/server.ts';

afterEach(() => void vi.unstubAllEnvs().restoreAllMocks());

describe('video states (3)', () => {
  test.each([
    ['clip.mp4', { status: 'ready', duration: 4 }],
    ['camera.mov', { status: 'ready', duration: 3 }],
    ['truncated.mp4', { status: 'failed', error: { code: 'truncated_file' } }],
    ['make.sh', { status: 'failed', error: { code: 'unsupported_format' } }],
  ])('3 %s goes from pending through processing to its end', async (sample, end) => {
    let nowMs = Date.UTC(2026, 0, 1);
    await using service = await runSandbox({ nowMs: () => nowMs, processingMs: { min: 1000, max: 1000 } });
    const { id, upload_url } = await service.create();
    const video = async () => (await service.call('GET', `/videos/${id}`)).body.data;
    expect(await video()).toMatchObject({ status: 'pending' });
    await put(upload_url, await readSample(sample));
    nowMs += 999;
    expect(await video()).toMatchObject({ status: 'processing', duration: null });
    expect(await video()).not.toHaveProperty('error');
    nowMs += 1;
    expect(await video()).toMatchObject(end);
  });

  test('the processing times are drawn from the seed, within their limits', async () => {
    const times = async (seed: number) => {
      let nowMs = 0;
      await using service = await runSandbox({ seed, nowMs: () => nowMs, processingMs: { min: 100, max: 200 } });
      const { id, upload_url } = await service.create();
      await put(upload_url, await readSample('interview.mp3'));
      while ((await service.call('GET', `/videos/${id}`)).body.data.status === 'processing') nowMs += 5;
      return nowMs;
    };
    const drawn = await Promise.all([1, 2, 3].map(times));
    expect(drawn).toEqual(await Promise.all([1, 2, 3].map(times)));
    expect(new Set(drawn).size).toBeGreaterThan(1);
    expect(drawn.every((ms) => ms >= 100 && ms <= 200)).toBe(true);
  });
});

describe('restart on the same data folder', () => {
  test('keeps videos, states, files, publishes and upload addresses', async () => {
    await using folder = await scratchDirectory();
    const clip = await readSample('clip.mp4');
    let nowMs = Date.UTC(2026, 0, 1);
    const options = { dataDir: folder.path, nowMs: () => nowMs, processingMs: { min: 1000, max: 1000 } };
    const first = await runSandbox(options);
    const done = await first.create({ title: 'done', tags: ['t'] });
    const open = await first.create({ title: 'open' });
    await put(done.upload_url, clip);
    await first.call('POST', '/feeds/feed_news/publish');
    const before = (await first.call('GET', '/feeds')).body.data[0].last_published_at;
    await first.sandbox.close();

    await using second = await runSandbox({ ...options, port: first.sandbox.port });
    expect(second.sandbox.apiKey).toBe(first.sandbox.apiKey);
    expect((await second.call('GET', `/videos/${done.id}`)).body.data).toMatchObject({
      title: 'done',
      tags: ['t'],
      status: 'processing',
    });
    nowMs += 1000;
    expect((await second.call('GET', `/videos/${done.id}`)).body.data.status).toBe('ready');
    expect((await second.call('GET', '/feeds')).body.data[0].last_published_at).toBe(before);
    expect((await put(open.upload_url, clip)).status).toBe(200);
    expect((await second.create()).id).not.toBe(done.id);
  });

  test('resumes an interrupted import', async () => {
    await using folder = await scratchDirectory();
    const clip = await readSample('clip.mp4');
    let asked = 0;
    await using source = await startServer((_request, response) => void ((asked += 1) > 1 && response.end(clip)));
    const first = await runSandbox({ dataDir: folder.path });
    const { id } = await first.create({ source_url: source.origin });
    await until(() => (asked === 1 ? true : undefined));
    await first.sandbox.close();
    await using second = await runSandbox({ dataDir: folder.path });
    expect((await second.ended(id)).status).toBe('ready');
  });

  test('files that no record knows are removed at the start', async () => {
    await using folder = await scratchDirectory();
    await (await startSandbox({ dataDir: folder.path })).close();
    await writeFile(join(folder.path, 'media', 'vid_never_acknowledged'), 'x');
    await writeFile(join(folder.path, 'incoming', 'half'), 'x');
    await (await startSandbox({ dataDir: folder.path })).close();
    expect(await readdir(join(folder.path, 'media'))).toEqual([]);
    expect(await readdir(join(folder.path, 'incoming'))).toEqual([]);
  });

  test('refuses a second sandbox on the same folder, with the reason', async () => {
    await using folder = await scratchDirectory();
    await using first = await runSandbox({ dataDir: folder.path });
    await expect(startSandbox({ dataDir: folder.path })).rejects.toThrow(/in use by another sandbox/);
    expect((await first.call('GET', '/videos')).status).toBe(200);
  });
});

describe('startSandbox', () => {
  test('listens on a free port, and a port that is taken is an error', async () => {
    await using service = await runSandbox();
    expect(service.sandbox.baseUrl).toBe(`http://127.0.0.1:${service.sandbox.port}/v1`);
    await expect(startSandbox({ port: service.sandbox.port })).rejects.toThrow(/EADDRINUSE/);
  });

  test('opens its port when it can answer, also if the one for uploads takes long', async () => {
    const { port, [Symbol.asyncDispose]: release } = await startServer(() => undefined);
    await release();
    const secondPort = Promise.withResolvers<() => void>();
    let lookups = 0;
    const { lookup } = dns;
    vi.spyOn(dns, 'lookup').mockImplementation(((
      host: string,
      ...rest: [LookupOptions, Parameters<LookupFunction>[2]]
    ) => {
      const look = () => lookup(host, ...rest);
      if (host === 'localhost' && (lookups += 1) === 2) secondPort.resolve(look);
      else look();
    }) as typeof dns.lookup);
    const starting = runSandbox({ host: 'localhost', port, uploadOrigin: 'separate' });
    const goOn = await secondPort.promise;
    const early = connect(port, 'localhost');
    await expect(once(early, 'connect')).rejects.toThrow('ECONNREFUSED');
    goOn();
    await using service = await starting;
    expect((await service.call('GET', '/channels')).status).toBe(200);
  });

  test.each<[string, SandboxOptions, RegExp]>([
    [
      'host',
      { host: '0.0.0.0' },
      /host: other machines could reach that address; allow it with exposed: true \(--expose\)/,
    ],
    ['host with a path', { host: 'sandbox/x', exposed: true }, /host: must be a name or an address/],
    ['externalUrl', { externalUrl: 'https://sandbox:8787' }, /externalUrl: is for a sandbox that others may reach/],
    ['externalUrl with a path', { externalUrl: 'https://sandbox/v1', exposed: true }, /externalUrl: must be .* origin/],
    ['host with a port', { host: 'sandbox:80', exposed: true }, /host: must be a name or an address without a port/],
    ['corsOrigins', { corsOrigins: ['localhost:5173'] }, /corsOrigins\.0: must be an http or https origin like/],
    ['port', { port: 70_000 }, /port/],
    ['processingMs', { processingMs: { min: 2, max: 1 } }, /min must not be above max/],
    ['apiKey', { apiKey: 'with space' }, /apiKey/],
    ['colour', { colour: 'red' } as SandboxOptions, /colour/],
  ])('refuses a wrong %s in words', async (_option, options, message) => {
    await expect(startSandbox(options)).rejects.toThrow(message);
  });

  test('an account without seed data is empty, and takes no video', async () => {
    await using service = await runSandbox({ seedData: 'none' });
    expect((await service.call('GET', '/channels')).body.data).toEqual([]);
    expect((await service.call('GET', '/feeds')).body.data).toEqual([]);
    expect((await service.call('POST', '/videos', { title: 'x' })).status).toBe(422);
  });

  test('close cuts connections, also of an upload under way, ends twice the same, and removes a temporary folder', async () => {
    await using folder = await scratchDirectory();
    vi.stubEnv('TMPDIR', folder.path);
    const service = await runSandbox();
    expect(await readdir(folder.path)).toHaveLength(1);
    const { upload_url } = await service.create();
    const stalled = fetch(upload_url, {
      method: 'PUT',
      headers: { 'content-length': '1000' },
      body: new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(10)) }),
      duplex: 'half',
    });
    const outcome = stalled.then(
      () => 'answered',
      () => 'cut',
    );
    await until(() => (service.sandbox.requests().length >= 2 ? true : undefined));
    await service.sandbox.close();
    await service.sandbox.close();
    expect(await outcome).toBe('cut');
    await expect(fetch(service.sandbox.baseUrl)).rejects.toThrow();
    expect(await readdir(folder.path)).toEqual([]);
  });

  test('the journal lists requests and answers in order', async () => {
    await using service = await runSandbox({ nowMs: () => 42 });
    await service.call('GET', '/videos?channel_id=ch_main');
    await service.call('POST', '/feeds/feed_main/publish');
    await service.call('GET', '/nowhere');
    expect(service.sandbox.requests()).toMatchObject([
      { operation: 'videos.list', method: 'GET', path: '/v1/videos', status: 200, atMs: 42 },
      { operation: 'feeds.publish', method: 'POST', path: '/v1/feeds/feed_main/publish', status: 200, atMs: 42 },
      { operation: 'unknown', method: 'GET', path: '/v1/nowhere', status: 404, atMs: 42 },
    ]);
  });
});

describe('the sandbox object', () => {
  test('is reset and has its clock moved without a request', async () => {
    await using service = await runSandbox();
    const { sandbox } = service;
    expect(sandbox.client).toEqual({ baseUrl: sandbox.baseUrl, apiKey: sandbox.apiKey });
    const { id, upload_url: url } = await service.create();
    sandbox.advance(3_600_001);
    expect((await put(url, await readSample('clip.mp4'))).status).toBe(403);
    await sandbox.reset();
    expect(sandbox.requests()).toEqual([]);
    expect((await service.create()).id).toBe(id);
  });

  test.each([-1, 0.5, Number.NaN, Infinity])('does not move its clock by %d ms', async (ms) => {
    await using service = await runSandbox();
    expect(() => service.sandbox.advance(ms)).toThrow(RangeError);
  });
});
