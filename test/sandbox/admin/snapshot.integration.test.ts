import { once } from 'node:events';
import { readdir, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { put, readSample, runSandbox, type Json, type RunningSandbox } from '../running-sandbox.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { admin } from './admin-side.ts';

async function filled(service: RunningSandbox): Promise<void> {
  await service.upload('clip.mp4', { title: 'Ünïcode \u{1f600}', tags: ['a', 'b'], description: 'x'.repeat(5000) });
  await service.upload('truncated.mp4');
  await service.create();
  await service.call('PATCH', '/channels/ch_news', { name: 'N', default_player_settings: { autoplay: true } });
  await service.call('POST', '/feeds/feed_news/publish');
  await admin(service, 'POST /keys', { name: 'more', read_only: true });
  await admin(service, 'DELETE /keys/key_2');
  await admin(service, 'POST /seed', { videos: 2, days: 3 });
}

const exported = async (service: RunningSandbox, query = ''): Promise<Json> =>
  (await admin(service, `GET /export${query}`)).body;

test('the round trip is exact, for the records and for the files, in another sandbox too', async () => {
  await using folder = await scratchDirectory();
  await using from = await runSandbox({ seed: 1, dataDir: folder.path });
  await filled(from);
  const snapshot = await exported(from, '?media=true');
  expect(snapshot).toMatchObject({ v: 1, tables: { videos: { length: 5 } } });
  expect(Object.keys(snapshot.media)).toHaveLength(4);
  const { apiKey } = from.sandbox;
  expect(JSON.stringify(snapshot)).not.toContain(apiKey);

  await using to = await runSandbox({ seed: 2 });
  const { status, body } = await admin(to, 'POST /import', snapshot);
  expect([status, body.data]).toEqual([200, { videos: 5, files: 4, files_missing: 0 }]);
  const { exported_at: _at, ...again } = await exported(to, '?media=true');
  expect(snapshot).toMatchObject(again);
  const headers = { authorization: `Bearer ${apiKey}` };
  const listed = async (service: RunningSandbox) =>
    JSON.stringify((await service.call('GET', '/videos', undefined, headers)).body.data).replaceAll(
      new URL(service.sandbox.baseUrl).host,
      'HOST',
    );
  expect(await listed(to)).toBe(await listed(from));
  expect((await to.call('GET', '/videos')).status).toBe(401); // its own key is not in the snapshot
  const next = async (service: RunningSandbox) =>
    (await service.call('POST', '/videos', { title: 'T' }, headers)).body.id;
  expect(await next(to)).toMatch(/^vid_/);
});

test('without media, matching files stay, and the others are reported as missing', async () => {
  await using service = await runSandbox();
  await service.upload('clip.mp4');
  const snapshot = await exported(service);
  const gone = await service.upload('camera.mov');
  expect((await admin(service, 'POST /import', snapshot)).body.data).toEqual({ videos: 1, files: 1, files_missing: 0 });
  expect((await service.call('GET', `/videos/${gone.id}`)).status).toBe(404);
  expect(service.sandbox.files()).toHaveLength(1);
  await using empty = await runSandbox();
  expect((await admin(empty, 'POST /import', snapshot)).body.data).toEqual({ videos: 1, files: 0, files_missing: 1 });
});

test('a number of a deleted video is not given again after the round trip', async () => {
  await using service = await runSandbox();
  const { id } = await service.create();
  await service.call('DELETE', `/videos/${id}`);
  const snapshot = await exported(service);
  await admin(service, 'POST /reset');
  await admin(service, 'POST /import', snapshot);
  expect((await service.create()).id).not.toBe(id);
});

test('an upload in progress during an import is not accepted for a new record', async () => {
  await using service = await runSandbox();
  const snapshot = await exported(service);
  const { upload_url: url } = await service.create();
  await admin(service, 'POST /import', snapshot);
  expect((await put(url, await readSample('clip.mp4'))).status).toBe(404);
});

test('files too large for a document are refused, with an alternative', async () => {
  await using service = await runSandbox();
  const { upload_url: url } = await service.create();
  expect((await put(url, Buffer.alloc(64 * 1024 * 1024 + 1))).status).toBe(200);
  const { status, body } = await admin(service, 'GET /export?media=true');
  expect([status, body.error.message]).toEqual([409, expect.stringContaining('copy its data folder')]);
});

const video = (snapshot: Json) => snapshot.tables.videos[0];
const broken: readonly [string, (snapshot: Json) => void][] = [
  ['another version', (snapshot) => (snapshot.v = 2)],
  ['another form of records', (snapshot) => (snapshot.schema += 1)],
  ['a table missing', (snapshot) => delete snapshot.tables.feeds],
  ['an unknown table', (snapshot) => (snapshot.tables['videos; DROP TABLE videos'] = [])],
  ['an unknown sequence', (snapshot) => (snapshot.sequences.sqlite_master = 1)],
  ['an unknown column', (snapshot) => (video(snapshot).extra = 1)],
  ['a column missing', (snapshot) => delete video(snapshot).title],
  ['a null where none may be', (snapshot) => (video(snapshot).title = null)],
  ['a text for a number', (snapshot) => (video(snapshot).created_at_ms = 'x')],
  ['a fraction for a whole number', (snapshot) => (video(snapshot).file_size_bytes = 1.5)],
  ['an object for a value', (snapshot) => (video(snapshot).title = {})],
  ['a number that is not exact', (snapshot) => (video(snapshot).file_size_bytes = 1e18)],
  ['a time beyond all dates', (snapshot) => (video(snapshot).created_at_ms = 9e15)],
  ['an id that is a path', (snapshot) => (video(snapshot).id = '../../etc/passwd')],
  ['a status that does not exist', (snapshot) => (video(snapshot).status = 'banana')],
  ['a ready video without a container', (snapshot) => (video(snapshot).container = null)],
  ['tags that are no list', (snapshot) => (video(snapshot).tags = '{}')],
  ['tags that are no JSON', (snapshot) => (video(snapshot).tags = '[')],
  ['player settings that are no object', (snapshot) => (snapshot.tables.channels[0].default_player_settings = '[]')],
  ['a media type that is a header', (snapshot) => (video(snapshot).media_type = 'video/mp4\r\nX: y')],
  ['a hash that is none', (snapshot) => (snapshot.tables.api_keys[0].key_hash = 'x')],
  ['a video of no channel', (snapshot) => (video(snapshot).channel_id = 'ch_nowhere')],
  ['the same id twice', (snapshot) => snapshot.tables.videos.push({ ...video(snapshot), number: 99 })],
  ['a feed type that does not exist', (snapshot) => (snapshot.tables.feeds[0].type = 'atom')],
  ['a table that is no list', (snapshot) => (snapshot.tables.videos = {})],
  ['tables that are no object', (snapshot) => (snapshot.tables = [])],
  ['an unknown field', (snapshot) => (snapshot.more = { a: [] })],
  ['sequences missing', (snapshot) => delete snapshot.sequences],
  ['a sequence that is no number', (snapshot) => (snapshot.sequences.videos = '1')],
  ['a sequence that cannot be continued', (snapshot) => (snapshot.sequences.videos = 2 ** 53 - 1)],
  ['a number that cannot be continued', (snapshot) => (video(snapshot).number = 2 ** 53 - 1)],
  ['a count that cannot be continued', (snapshot) => (snapshot.tables.api_keys[0].use_count = 2 ** 53 - 1)],
  ['a size below 0', (snapshot) => (video(snapshot).file_size_bytes = -5)],
  ['a duration below 0', (snapshot) => (video(snapshot).duration_s = -1)],
  ['a row that is no object', (snapshot) => (snapshot.tables.videos[0] = [1])],
  ['media of no video', (snapshot) => (snapshot.media = { vid_none: 'AAAA' })],
  ['media with other bytes', (snapshot) => (snapshot.media = { [video(snapshot).id]: 'AAAA' })],
  ['media that is no base64', (snapshot) => (snapshot.media = { [video(snapshot).id]: '!' })],
];

describe('a snapshot that does not fit', () => {
  let folder: Awaited<ReturnType<typeof scratchDirectory>>;
  let service: RunningSandbox;
  let id: string;
  beforeAll(async () => {
    folder = await scratchDirectory();
    service = await runSandbox({ dataDir: folder.path });
    ({ id } = await service.upload('interview.mp3'));
  });
  afterAll(async () => {
    await service.sandbox.close();
    await folder[Symbol.asyncDispose]();
  });

  test.each(broken)('because of %s is refused whole', async (_what, breakIt) => {
    const snapshot = await exported(service);
    const before = structuredClone(snapshot.tables);
    breakIt(snapshot);
    const { status, body } = await admin(service, 'POST /import', snapshot);
    expect([status, body.error.code]).toEqual([422, 'invalid_request']);
    expect(body.error.message).toMatch(/^.{5,500}\.$/s);
    expect((await exported(service)).tables).toEqual(before);
    expect(await readFile(join(folder.path, 'media', id))).toEqual(await readSample('interview.mp3'));
    expect(await readdir(join(folder.path, 'incoming'))).toEqual([]);
  });
});

test('an import that is cut off changes nothing, and leaves nothing behind', async () => {
  await using folder = await scratchDirectory();
  await using service = await runSandbox({ dataDir: folder.path });
  const { id } = await service.upload('clip.mp4');
  const text = JSON.stringify(await exported(service, '?media=true'));
  const { adminUrl, adminToken } = service.sandbox;
  const asked = request(`${adminUrl}/import`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminToken}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text) + 1,
    },
  });
  asked.on('error', () => undefined).write(text);
  await once(asked, 'drain');
  asked.destroy();
  expect(await readdir(join(folder.path, 'incoming'))).toEqual([]);
  expect((await service.call('GET', `/videos/${id}`)).status).toBe(200);
});

test('imports that were waiting continue after the round trip', async () => {
  await using service = await runSandbox();
  const { id } = await service.create({ source_url: 'http://127.0.0.1:9/never.mp4' });
  await service.ended(id);
  const snapshot = await exported(service);
  const waiting = snapshot.tables.videos[0];
  Object.assign(waiting, { status: 'pending', failure_code: null, failure_message: null, ended_at_ms: null });
  await admin(service, 'POST /import', snapshot);
  expect((await service.ended(id)).error.code).toBe('import_failed');
});

test('a file that is gone from the folder is missing in the document, and nothing else is', async () => {
  await using folder = await scratchDirectory();
  await using service = await runSandbox({ dataDir: folder.path });
  const { id } = await service.upload('interview.mp3');
  await rm(join(folder.path, 'media', id));
  expect((await exported(service, '?media=true')).media).toEqual({});
});

test('a HEAD of an export has no body', async () => {
  await using service = await runSandbox();
  const { adminUrl, adminToken } = service.sandbox;
  const headers = { authorization: `Bearer ${adminToken}` };
  const answer = await fetch(`${adminUrl}/export`, { method: 'HEAD', headers });
  expect([answer.status, await answer.text()]).toEqual([200, '']);
});
