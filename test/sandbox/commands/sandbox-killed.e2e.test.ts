import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSample, type Json } from '../running-sandbox.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { startDropcast, type DropcastProcess } from '../../e2e/dropcast-process.ts';
import { until } from '../../support/until.ts';

const ROUNDS = 4;
const WORKERS = 6;
const clip = await readSample('clip.mp4');
const sha256 = createHash('sha256').update(clip).digest('hex');

/** What the service has acknowledged. Of what was cut off in the middle nobody knows, so anything may have become of it. */
interface Acknowledged {
  isStored: boolean;
  isDeleted: boolean | 'unknown';
}

async function start(dataDir: string) {
  const args = ['sandbox', '--port', '0', '--json', '--data', dataDir, '--requests-per-hour', '1000000'];
  const process = startDropcast(args);
  await until('the sandbox is ready', () => process.output().includes('\n'));
  const facts: Json = JSON.parse(process.output());
  return { process, facts, [Symbol.asyncDispose]: () => process[Symbol.asyncDispose]() };
}

type Running = Awaited<ReturnType<typeof start>>;

async function api(
  { facts }: Running,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; body: Json }> {
  const headers = { authorization: `Bearer ${facts.api_key}`, 'content-type': 'application/json' };
  const response = await fetch(facts.base_url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

/** Creates, uploads, deletes and publishes until the service goes. */
async function work(service: Running, known: Map<string, Acknowledged>): Promise<void> {
  try {
    for (let step = 0; ; step += 1) {
      const { id, upload_url: url } = (await api(service, 'POST', '/videos', { title: 'T' })).body;
      const video: Acknowledged = { isStored: false, isDeleted: false };
      known.set(id, video);
      if (step % 4 !== 3) video.isStored = (await fetch(url, { method: 'PUT', body: clip })).status === 200;
      if (step % 3 === 2) {
        video.isDeleted = 'unknown';
        video.isDeleted = (await api(service, 'DELETE', `/videos/${id}`)).status === 204;
      }
      if (step % 5 === 4) await api(service, 'POST', '/feeds/feed_main/publish');
    }
  } catch {
    // it was killed
  }
}

async function allVideos(service: Running): Promise<Map<string, Json>> {
  const all = new Map<string, Json>();
  for (let page = 1; ; page += 1) {
    const { data } = (await api(service, 'GET', `/videos?per_page=100&page=${page}`)).body;
    for (const video of data) all.set(video.id, video);
    if (data.length === 0) return all;
  }
}

async function requireIntact(service: Running, dataDir: string, known: Map<string, Acknowledged>): Promise<void> {
  const all = await allVideos(service);
  const stored = new Set(await readdir(join(dataDir, 'media')));
  for (const [id, { isStored, isDeleted }] of known) {
    if (isDeleted !== 'unknown') expect([id, all.has(id)]).toEqual([id, !isDeleted]);
    if (isStored && isDeleted === false) expect([id, stored.has(id)]).toEqual([id, true]);
  }
  for (const [id, { status }] of all) expect([id, status !== 'pending']).toEqual([id, stored.has(id)]);
  for (const id of stored) {
    expect([id, all.has(id)]).toEqual([id, true]);
    const bytes = await readFile(join(dataDir, 'media', id));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
  }
}

test('a sandbox that is killed at any moment has kept what it acknowledged, and nothing by halves', async () => {
  await using folder = await scratchDirectory();
  await using receiver = await startReceiver();
  const known = new Map<string, Acknowledged>();
  for (let round = 0; round < ROUNDS; round += 1) {
    await using service = await start(folder.path);
    if (round === 0) await registerWebhook(service, receiver.url);
    await requireIntact(service, folder.path, known);
    const before = known.size;
    const working = Array.from({ length: WORKERS }, () => work(service, known));
    await until('there is something to lose', () => known.size > before + 10);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 200)); // the moment is what is tried out
    expect((await service.process.kill('SIGKILL')).stderr).toBe('');
    await Promise.all(working);
  }
  await using last = await start(folder.path);
  await requireIntact(last, folder.path, known);
  await until('every end was reported', async () => {
    const told = new Set(receiver.received.map(({ json }) => json.data.id));
    const all = [...(await allVideos(last)).values()];
    return all.every(({ id, status }) => status === 'pending' || told.has(id));
  });
  await requireEndsWell(last.process, folder.path, () => work(last, known));
});

async function registerWebhook({ facts }: Running, url: string): Promise<void> {
  const headers = { authorization: `Bearer ${facts.admin_token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ url, events: ['video.ready', 'video.failed'] });
  expect((await fetch(`${facts.admin_url}/webhooks`, { method: 'POST', headers, body })).status).toBe(201);
}

/** In the middle of everything, too. */
async function requireEndsWell(process: DropcastProcess, dataDir: string, busy: () => Promise<void>): Promise<void> {
  const working = Array.from({ length: WORKERS }, busy);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await process.kill('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  await Promise.all(working);
  expect(existsSync(join(dataDir, 'sandbox.json'))).toBe(false);
  expect(await readdir(join(dataDir, 'incoming'))).toEqual([]);
}
