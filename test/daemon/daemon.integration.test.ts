import type { IncomingMessage, ServerResponse } from 'node:http';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { startDaemon } from '../../src/daemon/daemon.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import { until } from '../support/until.ts';
import { startVideoHost } from '../e2e/video-host.ts';
import type { HostOptions, VideoHost } from '../e2e/video-host.ts';
import { recordingLogger, silentLogger } from '../pipeline/silent-logger.ts';
import { smallDisk } from '../ledger/small-disk.ts';
import { needs } from '../support/needs.ts';
import { loadedConfig, type Settings } from '../support/configuration.ts';
import { scratchDirectory, type ScratchDirectory } from '../support/scratch-directory.ts';
import { knowsOnly, refusal } from '../e2e/answers.ts';

function configOf(scratch: ScratchDirectory, host: VideoHost, { service, ...others }: Settings = {}): Promise<Config> {
  return loadedConfig(scratch, {
    service: { base_url: host.baseUrl, api_key: host.key, ...service },
    folders: [{ rescan: '1s' }],
    ...others,
  });
}

const onlyTo = (channel: string): Settings => ({ folders: [{ rescan: '1s', rules: [{ match: '**', channel }] }] });

async function makeInbox(): Promise<ScratchDirectory> {
  const scratch = await scratchDirectory();
  await mkdir(scratch.file('inbox/news'), { recursive: true });
  return scratch;
}

const rows = async (daemon: Daemon) => (await daemon.ledger.rows({ group: 'any', limit: 100 })).map((facts) => facts);

const allDone = (daemon: Daemon, count: number): Promise<unknown> =>
  until(`${count} files are done`, async () => {
    const found = await rows(daemon);
    return found.length >= count && found.every((facts) => stateOf(facts) === 'done');
  });

test('it can be asked and stopped while it looks at thousands of files for the first time', async () => {
  await using host = await startVideoHost();
  await using scratch = await makeInbox();
  const names = Array.from({ length: 3_000 }, (_, n) => `${n}.mp4`);
  await Promise.all(names.map((name) => writeFile(scratch.file('inbox', name), '')));
  await using daemon = await startDaemon(await configOf(scratch, host), silentLogger);
  expect(daemon.folders.status()).toMatchObject([{ state: 'starting', why: expect.stringContaining('first time') }]);
  expect(daemon.folders.unscanned()).toEqual([scratch.file('inbox')]);
  expect(await daemon.isIdle()).toBe(false);
  await daemon.stop(AbortSignal.timeout(60_000));
  expect(daemon.folders.status()[0]?.paths.seen).toBeLessThan(names.length);
});

test('a missing folder counts as scanned; one that comes back counts once it was scanned', async () => {
  await using host = await startVideoHost();
  await using scratch = await makeInbox();
  await rename(scratch.file('inbox'), scratch.file('away'));
  await using daemon = await startDaemon(await configOf(scratch, host), silentLogger);
  expect(daemon.folders.unscanned()).toEqual([]);
  await rename(scratch.file('away'), scratch.file('inbox'));
  await daemon.folders.rescan();
  await until('it is looked through', () => daemon.folders.status()[0]?.state === 'watching');
  expect(daemon.folders.unscanned()).toEqual([]);
});

test('a folder that a reload puts inside another takes over what is in it', async () => {
  await using host = await startVideoHost();
  await using scratch = await makeInbox();
  await using daemon = await startDaemon(await configOf(scratch, host), silentLogger);
  await writeFile(scratch.file('inbox/news/before.mpg'), 'taken by the outer one');
  await allDone(daemon, 1);
  const inner = { path: 'inbox/news', rules: [{ match: '**', channel: 'ch_news' }] };
  await daemon.reload(await configOf(scratch, host, { folders: [{ rescan: '1s' }, inner] }));
  await writeFile(scratch.file('inbox/news/after.mpg'), 'taken by the inner one');
  await allDone(daemon, 2);
  await daemon.folders.rescan();
  expect((await rows(daemon)).map(({ path, plan }) => `${path} ${plan?.channel}`)).toEqual([
    'before.mpg ch_main',
    'after.mpg ch_news',
  ]);
});

test('a start is refused for a channel that the service does not have, unless files went there before', async () => {
  const channels = ['ch_main'];
  await using host = await startVideoHost({
    channels: () => channels,
    meddle: knowsOnly(channels),
  });
  await using scratch = await makeInbox();
  const wrong = await configOf(scratch, host, onlyTo('ch_mian'));
  await expect(startDaemon(wrong, silentLogger)).rejects.toThrow(
    'folders[0].rules[0].channel: the service has no channel "ch_mian", did you mean "ch_main"? It has ch_main',
  );
  expect(host.videos.size).toBe(0);
  {
    await using daemon = await startDaemon(await configOf(scratch, host), silentLogger);
    await writeFile(scratch.file('inbox/one.mpg'), 'sent before');
    await allDone(daemon, 1);
    channels.pop();
    await writeFile(scratch.file('inbox/two.mpg'), 'its channel was deleted');
    await until('it waits for the channel', async () =>
      (await rows(daemon)).some(({ lastFailure }) => lastFailure?.code === 'unknown_channel'),
    );
  }
  await using daemon = await startDaemon(await configOf(scratch, host), silentLogger);
  expect(daemon.conductor.names.unknown()).toMatchObject([{ kind: 'channel', name: 'ch_main' }]);
  channels.push('ch_other');
  await daemon.reload(await configOf(scratch, host, onlyTo('ch_other')));
  await allDone(daemon, 2);
  expect(new Set((await rows(daemon)).map(({ plan }) => plan?.channel))).toEqual(new Set(['ch_main', 'ch_other']));
});

test('a file whose record is being asked for while the rules change goes where they say now once it is refused', async () => {
  const channels = ['ch_main', 'ch_other'];
  const asked = Promise.withResolvers<void>();
  const isReloaded = Promise.withResolvers<void>();
  await using host = await startVideoHost({
    channels: () => channels,
    meddle: async (request, response, body) => {
      if (request.method !== 'POST' || !body.includes('"ch_main"')) return false;
      asked.resolve();
      await isReloaded.promise;
      return refusal(response, 422, 'invalid_channel');
    },
  });
  await using scratch = await makeInbox();
  await using daemon = await startDaemon(await configOf(scratch, host), silentLogger);
  await writeFile(scratch.file('inbox/one.mpg'), 'its channel is deleted in the meantime');
  await asked.promise;
  channels.shift();
  await daemon.reload(await configOf(scratch, host, onlyTo('ch_other')));
  await until('the folder is watched by the new rules', async () => !daemon.folders.isSettling());
  isReloaded.resolve();
  await allDone(daemon, 1);
  expect((await rows(daemon)).map(({ plan }) => plan?.channel)).toEqual(['ch_other']);
});

test('a reload that lets another origin see the key takes effect at once', async () => {
  await using host = await startVideoHost();
  await using scratch = await makeInbox();
  await using daemon = await startDaemon(await configOf(scratch, host), silentLogger);
  await writeFile(scratch.file('inbox/one.mpg'), 'sent without the key');
  await allDone(daemon, 1);
  expect(host.leaks).toEqual([]);
  const service = { send_key_to: [host.uploadOrigin] };
  await daemon.reload(await configOf(scratch, host, { service }));
  await writeFile(scratch.file('inbox/two.mpg'), 'sent with the key');
  await allDone(daemon, 2);
  expect(host.leaks).toHaveLength(1);
});

test('when it ends it leaves a copy of the ledger', async () => {
  await using host = await startVideoHost();
  await using scratch = await makeInbox();
  const daemon = await startDaemon(await configOf(scratch, host), silentLogger);
  await writeFile(scratch.file('inbox/one.mpg'), 'known to the copy');
  await allDone(daemon, 1);
  await daemon.stop(AbortSignal.timeout(60_000));
  expect(await readdir(scratch.file('state/backups'))).toEqual(['ledger.1.db']);
});

test(
  'a failure log on a disk that refuses stops no work: the log says it once, and the rows have each failure',
  needs('mount'),
  async () => {
    await using disk = await smallDisk('1m');
    const logger = recordingLogger();
    // Any file of this title is refused.
    await using host = await startVideoHost({
      meddle: (request, response, body) =>
        request.method === 'POST' && body.includes('refused') && refusal(response, 422, 'no'),
    });
    await using scratch = await makeInbox();
    const config = { ...(await configOf(scratch, host)), failureLog: join(disk.path, 'failures.jsonl') };
    await using daemon = await startDaemon(config, logger);
    disk.remount('ro');
    const names = ['refused 1', 'refused 2', 'refused 3', 'fine'];
    for (const name of names) await writeFile(scratch.file('inbox', `${name}.mpg`), name);
    await until('all have ended', async () => {
      const ended = (await rows(daemon)).filter(({ end }) => end !== null);
      return ended.length === names.length || daemon.conductor.pause() !== null;
    });
    expect(daemon.conductor.pause()).toBeNull();
    expect((await rows(daemon)).map(stateOf).toSorted()).toEqual(['done', 'failed', 'failed', 'failed']);
    expect(logger.lines.filter(({ level }) => level === 'error')).toMatchObject([
      { message: 'Cannot write to the failure log', fields: { err: { code: 'EROFS' } } },
    ]);
  },
);

test('an upload says how fast it is, and a file behind it when it starts', async () => {
  await using scratch = await makeInbox();
  await using host = await startVideoHost();
  const config = await configOf(scratch, host, { uploads: { concurrency: 1, bandwidth: '20kB/s' } });
  for (const name of ['one.mp4', 'two.mp4'])
    await writeFile(scratch.file(`inbox/${name}`), Buffer.alloc(100_000, name));
  await using daemon = await startDaemon(config, silentLogger);
  await until('one is sent and the other knows when', async () => {
    const { working, outlook } = await daemon.picture({ isFresh: true });
    const [sent, next] = ['uploading', 'awaiting upload'].map((state) => working.find((file) => file.state === state));
    return (
      (sent?.upload?.bytes_per_second ?? 0) > 0 &&
      (sent?.upload?.done_at ?? 0) > Date.now() &&
      (next?.queue?.starts_at ?? 0) > Date.now() &&
      outlook.limited_by === 'upload bandwidth'
    );
  });
});

/** A host that refuses an upload with a content type, as object stores do. */
async function requiresNoType(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  if (request.headers['content-type'] === undefined) return false;
  request.resume();
  response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
  return true;
}

test.each<[string, HostOptions, number]>([
  ['tus', { resumable: 'tus' }, 2],
  ['no content type', { meddleUpload: requiresNoType }, 1],
])('what an upload host takes costs one refusal, also with a restart: %s', async (_, options, requests) => {
  await using host = await startVideoHost(options);
  await using scratch = await makeInbox();
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) await writeFile(scratch.file('inbox', `${name}.mpg`), name.repeat(100_000));
  {
    await using daemon = await startDaemon(await configOf(scratch, host), silentLogger);
    await allDone(daemon, names.length);
    expect(host.puts).toHaveLength(names.length * requests + 1);
  }
  await using daemon = await startDaemon(await configOf(scratch, host), silentLogger);
  await writeFile(scratch.file('inbox', 'later.mpg'), 'sent after the restart');
  await allDone(daemon, names.length + 1);
  expect(host.puts).toHaveLength((names.length + 1) * requests + 1);
  expect(host.videos.size).toBe(names.length + 1);
});
