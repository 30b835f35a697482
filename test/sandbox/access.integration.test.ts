import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { put, readSample, runSandbox } from './running-sandbox.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

describe('authentication (5)', () => {
  test.each([
    ['no header', {}],
    ['a wrong key', { authorization: 'Bearer sk_sandbox_wrong' }],
    ['another scheme', { authorization: 'Basic YTpi' }],
    ['a bare key', { authorization: 'KEY' }],
    ['an empty token', { authorization: 'Bearer ' }],
  ])('5.1 refuses %s on every path below /v1 before anything else', async (_what, header) => {
    await using service = await runSandbox({ apiKey: 'KEY' });
    for (const [method, path] of [
      ['GET', '/videos?per_page=1000'],
      ['GET', ''],
      ['PUT', '/nowhere'],
      ['OPTIONS', '/videos'],
      ['POST', '/videos'],
    ] as const) {
      const response = await fetch(service.sandbox.baseUrl + path, { method, headers: header });
      expect([method, path, response.status]).toEqual([method, path, 401]);
      expect(await response.json()).toMatchObject({ error: { code: 'unauthorized' } });
    }
  });

  test('5.3 the key itself is nowhere in the data folder', async () => {
    await using folder = await scratchDirectory();
    {
      await using service = await runSandbox({ dataDir: folder.path, apiKey: 'sk_very_secret_key' });
      expect((await service.call('GET', '/videos')).status).toBe(200);
    }
    expect((await readFile(join(folder.path, 'sandbox.db'))).includes('sk_very_secret_key')).toBe(false);
  });

  test('the same seed gives the same key and ids, another seed others', async () => {
    const facts = async (seed: number) => {
      await using service = await runSandbox({ seed });
      return [service.sandbox.apiKey, (await service.create()).id, (await service.create()).id];
    };
    expect(await facts(7)).toEqual(await facts(7));
    expect(await facts(7)).not.toEqual(await facts(8));
    expect((await facts(7))[0]).toMatch(/^sk_sandbox_/);
  });
});

describe('rate limit (8)', () => {
  test('8 refuses request 1 + n with 429, rate_limited and a Retry-After that is enough', async () => {
    let nowMs = Date.UTC(2026, 0, 1);
    await using service = await runSandbox({ requestsPerHour: 3, nowMs: () => nowMs });
    for (const path of ['/videos', '/nowhere', '/videos/x']) {
      await service.call('GET', path);
      nowMs += 60_000;
    }
    const refused = await service.call('GET', '/videos');
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
    const retryAfterS = Number(refused.headers.get('retry-after'));
    expect(retryAfterS).toBe(57 * 60);
    nowMs += retryAfterS * 1000 - 1;
    expect((await service.call('GET', '/videos')).status).toBe(429);
    nowMs += 1;
    expect((await service.call('GET', '/videos')).status).toBe(200);
    expect((await service.call('GET', '/videos')).status).toBe(429);
  });

  test('uploads and requests without a valid key do not count', async () => {
    await using service = await runSandbox({ requestsPerHour: 2 });
    await fetch(`${service.sandbox.baseUrl}/videos`);
    const { upload_url } = await service.create();
    expect((await put(upload_url, await readSample('clip.mp4'))).status).toBe(200);
    expect((await service.call('GET', '/videos')).status).toBe(200);
    expect((await service.call('GET', '/videos')).status).toBe(429);
  });

  test('a restart does not reset the limit', async () => {
    await using folder = await scratchDirectory();
    const options = { dataDir: folder.path, requestsPerHour: 1 };
    {
      await using service = await runSandbox(options);
      await service.call('GET', '/videos');
    }
    await using service = await runSandbox(options);
    expect((await service.call('GET', '/videos')).status).toBe(429);
  });
});
