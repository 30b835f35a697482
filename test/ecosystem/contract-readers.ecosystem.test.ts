import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSandbox } from '../sandbox/running-sandbox.ts';
import { startPrism } from './prism.ts';
import { run, tool, workspace, type Workspace } from './tools.ts';

let work: Workspace;
beforeAll(async () => {
  work = await workspace();
});
afterAll(() => work[Symbol.asyncDispose]());

describe('openapi.yaml has nothing to complain about', () => {
  test('for Redocly, warnings included', async () => {
    await run(tool('redocly'), ['lint', 'openapi.yaml', '--extends', 'recommended-strict'], { cwd: work.path });
  });

  test('for Spectral, hints included', async () => {
    const args = ['lint', 'openapi.yaml', '--ruleset', 'spectral.yaml', '--fail-severity', 'hint'];
    expect(await run(tool('spectral'), args, { cwd: work.path })).toContain('No results');
  });
});

test("Prism's mock answers a creation with the address of an upload, and takes the file there", async () => {
  await using mock = await startPrism(['mock', 'openapi.yaml'], work.path);
  const key = { authorization: 'Bearer x' };
  const created = await fetch(`${mock.origin}/videos`, {
    method: 'POST',
    headers: { ...key, 'content-type': 'application/json' },
    body: '{"title":"News"}',
  });
  const video = (await created.json()) as { id: string; upload_url: string };
  expect(created.status).toBe(201);
  const { pathname } = new URL(video.upload_url);
  expect(pathname).toMatch(new RegExp(`^/uploads/${video.id}/[\\w-]+$`));
  const headers = { 'content-type': 'application/octet-stream' };
  const sent = await fetch(mock.origin + pathname, { method: 'PUT', headers, body: 'a video' });
  expect(await sent.json()).toMatchObject({
    id: video.id,
    status: 'processing',
    sha256: expect.stringMatching(/^\w{64}$/),
  });
  const published = await fetch(`${mock.origin}/feeds/feed_news/publish`, { method: 'POST', headers: key });
  expect(await published.json()).toMatchObject({ feed_id: 'feed_news', status: 'published' });
});

describe("Prism's proxy with --errors", () => {
  test("finds no violation in what Portman's collection asks and the sandbox answers, operation by operation", async () => {
    await using service = await runSandbox();
    const { baseUrl, apiKey } = service.sandbox;
    await using proxy = await startPrism(['proxy', 'openapi.yaml', baseUrl, '--errors'], work.path);
    const args = ['--local', 'openapi.yaml', '--baseUrl', proxy.origin, '--portmanConfigFile', 'portman.json'];
    const reporters = JSON.stringify({ reporters: ['cli'] });
    const printed = await run(
      tool('portman'),
      [...args, '--output', 'collection.json', '--runNewman', '--newmanRunOptions', reporters],
      { cwd: work.path, env: { PORTMAN_API_KEY: apiKey } },
    );
    const asked = [...printed.matchAll(/^  (\w+) http\S+ \[(\d{3})/gm)].map(
      ([, method, status]) => `${method} ${status}`,
    );
    expect(asked).toHaveLength(13);
    expect(asked.filter((line) => !/ 20[014]$/.test(line))).toEqual([]);
    expect(printed).toMatch(/assertions[^\d]+46[^\d]+0 /);
  });

  test('names a status that openapi.yaml does not have', async () => {
    await using service = await runSandbox({ switches: { create_status: '202' } });
    const { baseUrl, apiKey } = service.sandbox;
    await using proxy = await startPrism(['proxy', 'openapi.yaml', baseUrl, '--errors'], work.path);
    const answer = await fetch(`${proxy.origin}/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: '{"title":"News"}',
    });
    expect([answer.status, await answer.text()]).toEqual([500, expect.stringContaining('returned status code')]);
  });
});
