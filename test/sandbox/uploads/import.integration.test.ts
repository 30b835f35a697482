import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Events } from '../../../packages/sandbox/src/events.ts';
import type { Lifecycle } from '../../../packages/sandbox/src/lifecycle.ts';
import type { Acceptance } from '../../../packages/sandbox/src/uploads/acceptance.ts';
import type { VideoStore } from '../../../packages/sandbox/src/store/videos.ts';
import { Importer } from '../../../packages/sandbox/src/uploads/import.ts';
import { put, readSample, runSandbox, until } from '../running-sandbox.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { startServer } from '../../support/server.ts';

describe('source_url (1, 2.1)', () => {
  test('2.1 a video is imported from a loopback address, over a redirect too', async () => {
    const clip = await readSample('clip.mp4');
    await using source = await startServer((request, response) => {
      if (request.url === '/moved') response.writeHead(302, { location: '/clip.mp4' }).end();
      else response.end(clip);
    });
    await using service = await runSandbox();
    const { id, status } = await service.create({ source_url: `${source.origin}/moved` });
    expect(status).toBe('pending');
    expect(await service.ended(id)).toMatchObject({
      status: 'ready',
      duration: 4,
      source_url: `${source.origin}/moved`,
    });
  });

  test.each([
    ['another host', () => 'https://example.com/clip.mp4', 'this machine only'],
    ['an address that looks like loopback', () => 'http://127.0.0.1.example.com/clip.mp4', 'this machine only'],
    ['a redirect to another host', (url: string) => `${url}/away`, 'this machine only'],
    ['a missing file', (url: string) => `${url}/missing`, 'status 404'],
    ['a redirect without end', (url: string) => `${url}/loop`, 'redirects'],
    ['a body that breaks off', (url: string) => `${url}/cut`, 'could not be read'],
    ['nobody listening', () => 'http://127.0.0.1:1/clip.mp4', 'ECONNREFUSED'],
  ])('%s makes the video fail with the reason', async (_what, addressOf, reason) => {
    await using source = await startServer((request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: 'http://198.51.100.1/x' }).end();
      else if (request.url === '/loop') response.writeHead(302, { location: '/loop' }).end();
      else if (request.url === '/cut') {
        response.writeHead(200, { 'content-length': 1000 }).write('x');
        setImmediate(() => response.destroy());
      } else response.writeHead(404).end();
    });
    await using service = await runSandbox();
    const { id } = await service.create({ source_url: addressOf(source.origin) });
    const failed = await service.ended(id);
    expect(failed).toMatchObject({
      status: 'failed',
      error: { code: 'import_failed', message: expect.stringContaining(reason) },
    });
  });

  test('whichever is complete first counts: the import or the PUT', async () => {
    await using source = await startServer(() => undefined);
    await using service = await runSandbox();
    const { id, upload_url } = await service.create({ source_url: source.origin });
    expect((await put(upload_url, await readSample('clip.mp4'))).status).toBe(200);
    expect((await service.ended(id)).status).toBe('ready');
  });

  test('an import is aborted when the PUT was accepted, and does not harm the video', async () => {
    const waiting: ServerResponse[] = [];
    await using source = await startServer((_request, response) => waiting.push(response));
    await using service = await runSandbox({ processingMs: { min: 300, max: 300 } });
    const { id, upload_url } = await service.create({ source_url: source.origin });
    const response = await until(() => waiting[0]);
    const isLetGo = once(response, 'close');
    expect((await put(upload_url, await readSample('clip.mp4'))).status).toBe(200);
    await isLetGo;
    expect((await service.ended(id)).status).toBe('ready');
  });

  test('3 an endless source is aborted when its video is deleted', async () => {
    const waiting: ServerResponse[] = [];
    await using source = await startServer((_request, response) => waiting.push(response));
    await using folder = await scratchDirectory();
    await using service = await runSandbox({ dataDir: folder.path });
    const { id } = await service.create({ source_url: source.origin });
    const response = await until(() => waiting[0]);
    const isLetGo = once(response, 'close');
    response.write('some');
    await service.call('DELETE', `/videos/${id}`);
    await isLetGo;
    await until(async () => ((await readdir(join(folder.path, 'incoming'))).length === 0 ? true : undefined));
  });

  test('fetches nothing after close', async () => {
    let asked = 0;
    await using source = await startServer((_request, response) => {
      asked += 1;
      response.end();
    });
    const lifecycle = {} as Lifecycle;
    const acceptance = { era: 0 } as Acceptance;
    const parts = { videos: {} as VideoStore, lifecycle, acceptance, events: new Events(), incoming: '/nowhere' };
    const importer = new Importer({
      ...parts,
      importFrom: 'loopback',
      onDefect: (error) => expect.fail(String(error)),
    });
    await importer.close();
    importer.start('vid', source.origin);
    await importer.close();
    expect(asked).toBe(0);
  });

  test('fetches a few at a time', async () => {
    const waiting: ServerResponse[] = [];
    await using source = await startServer((_request, response) => waiting.push(response));
    await using service = await runSandbox();
    const created = await Promise.all(Array.from({ length: 40 }, () => service.create({ source_url: source.origin })));
    await until(() => (waiting.length >= 16 ? true : undefined));
    await service.call('GET', '/videos');
    expect(waiting).toHaveLength(16);
    await service.call('DELETE', `/videos/${created[39]?.id}`);
    for (let index = 0; index < 39; index += 1) (await until(() => waiting[index])).writeHead(404).end();
    for (const { id } of created.slice(0, 39)) expect((await service.ended(id)).status).toBe('failed');
    expect(waiting).toHaveLength(39);
  });
});
