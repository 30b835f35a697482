import { watch } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../packages/sandbox/src/sandbox.ts';
import { useSandbox } from '../../../packages/sandbox/src/testing/use-sandbox.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { admin } from '../admin/admin-side.ts';
import { until } from '../running-sandbox.ts';
import { startReceiver } from '../webhooks/receiver.ts';

const atOnce = { processingMs: { min: 0, max: 0 } };

test('a webhook describes a made video as it was requested', async () => {
  await using receiver = await startReceiver();
  await using sandbox = await startSandbox(atOnce);
  await admin({ sandbox }, 'POST /webhooks', { url: receiver.url });
  const age = { created_at: '2020-01-02T03:04:05.000Z' };
  await sandbox.make.video({ title: 'Ready', duration: 3600, ...age });
  await sandbox.make.video({ title: 'Failed', failure: { code: 'bad', message: 'No.' }, ...age });
  await until(() => receiver.received.length === 2);
  const [ready, failed] = receiver.received.map(({ json }) => json.data);
  expect(ready).toMatchObject({ status: 'ready', duration: 3600, ...age });
  expect(failed).toMatchObject({ status: 'failed', ...age });
});

test('videos that are asked for at the same time get the same ids every time', async () => {
  await using sandbox = await startSandbox(atOnce);
  const titles = Array.from({ length: 12 }, (_, index) => `Video ${index}`);
  const oneByOne: string[] = [];
  for (const title of titles) oneByOne.push((await sandbox.make.video({ title })).id);
  await sandbox.reset();
  const refused = expect(sandbox.make.video({ title: 'Refused', channel_id: 'ch_none' })).rejects.toThrow('channel_id');
  const made = await Promise.all(titles.map((title) => sandbox.make.video({ title })));
  await refused;
  expect(made.map(({ id }) => id)).toEqual(oneByOne);
});

test('videos that are still to be made when a reset comes are refused, and never appear', async () => {
  await using sandbox = await startSandbox(atOnce);
  const failure = { code: 'bad', message: 'No.' };
  const making = Promise.allSettled([
    sandbox.make.video({ title: 'First' }),
    sandbox.make.video({ title: 'Second' }),
    sandbox.make.video({ title: 'Third', failure }),
  ]);
  await sandbox.reset();
  expect((await making).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect((await admin({ sandbox }, 'GET /state')).body.data.counts.videos.total).toBe(0);
});

test('as many plays as a list may have fit in a request', async () => {
  await using sandbox = await startSandbox(atOnce);
  const { id } = await sandbox.make.video({ title: 'Seen' });
  const play = {
    video_id: id,
    seconds: 1,
    viewer: 'v'.repeat(200),
    at: '2026-03-01T10:00:00.000+00:00',
    complete: true,
  };
  const plays = Array.from({ length: 10_000 }, () => play);
  expect(await admin({ sandbox }, 'POST /plays', plays)).toMatchObject({
    status: 201,
    body: { data: { plays: 10_000 } },
  });
  expect((await admin({ sandbox }, 'POST /plays', [...plays, play])).status).toBe(422);
});

test('the clock refuses times that have no date of four digits, and stays where it was', async () => {
  await using sandbox = await startSandbox({ now: '2030-01-01T00:00:00Z' });
  sandbox.setClock('2031-01-01T00:00:00Z');
  expect(() => sandbox.advance(Number.MAX_SAFE_INTEGER)).toThrow(RangeError);
  expect(() => sandbox.setClock(new Date(8.64e15))).toThrow('cannot pass the year 9999');
  expect((await admin({ sandbox }, 'PUT /clock', { now: '9999-12-31T23:59:59Z' })).status).toBe(422);
  expect((await admin({ sandbox }, 'GET /clock')).body.data.now).toBe('2031-01-01T00:00:00.000Z');
});

test('a reset that moves the clock forward sends no webhook again', async () => {
  await using receiver = await startReceiver();
  receiver.answer = (response) => response.writeHead(500).end();
  let systemMs = Date.parse('2026-01-01T00:00:00Z');
  await using sandbox = await startSandbox({ ...atOnce, nowMs: () => systemMs });
  await admin({ sandbox }, 'PUT /clock', { frozen: true });
  const { body } = await admin({ sandbox }, 'POST /webhooks', { url: receiver.url });
  await sandbox.make.video({ title: 'Ready' });
  await until(async () => {
    const { data } = (await admin({ sandbox }, `GET /webhooks/${body.data.id}/deliveries`)).body;
    return data[0]?.attempts === 1;
  });
  systemMs += 3_600_000;
  await sandbox.reset();
  await sandbox.close(); // waits for what is being sent
  expect(receiver.received).toHaveLength(1);
});

test('the list of snapshots leaves out files that are none, and no unfinished one is in their folder', async () => {
  await using folder = await scratchDirectory();
  await using sandbox = await startSandbox({ ...atOnce, dataDir: folder.path });
  await mkdir(folder.file('snapshots'));
  const seen = new Set<string | null>();
  const watcher = watch(folder.file('snapshots'), (_event, name) => seen.add(name));
  await sandbox.snapshots.save('own');
  await until(() => seen.has('own.json'));
  watcher.close();
  await writeFile(folder.file('snapshots', '.foreign.json'), '{}');
  expect((await sandbox.snapshots.list()).map(({ name }) => name)).toEqual(['own']);
  expect([...seen]).toEqual(['own.json']);
});

test('a sandbox whose hooks are refused is closed', async () => {
  await using folder = await scratchDirectory();
  const afterAll = () => {
    throw new Error('not inside a test');
  };
  const options = { dataDir: folder.path };
  await expect(useSandbox({ afterEach: () => undefined, afterAll }, options)).rejects.toThrow('not inside a test');
  await using next = await startSandbox(options);
  expect(next.requests()).toEqual([]);
});

test('a closed sandbox takes neither a reset nor a save, and does not make its folder again', async () => {
  await using folder = await scratchDirectory();
  const sandbox = await startSandbox({ dataDir: folder.file('data') });
  await sandbox.close();
  await rm(folder.file('data'), { recursive: true });
  await expect(sandbox.reset()).rejects.toThrow('The sandbox is closed');
  await expect(sandbox.snapshots.save('late')).rejects.toThrow();
  expect(await readdir(folder.path)).toEqual([]);
});

test('every close ends when the sandbox is closed', async () => {
  await using folder = await scratchDirectory();
  const options = { dataDir: folder.path };
  const sandbox = await startSandbox(options);
  const first = sandbox.close();
  await sandbox.close();
  await using next = await startSandbox(options);
  expect(next.requests()).toEqual([]);
  await first;
});
