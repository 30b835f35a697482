import { mkdir, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import { first } from '../../../src/daemon/commands/first.ts';
import { ignore } from '../../../src/daemon/commands/ignore.ts';
import { pause, resume } from '../../../src/daemon/commands/pause.ts';
import { publish } from '../../../src/daemon/commands/publish.ts';
import { reapply } from '../../../src/daemon/commands/reapply.ts';
import { retry } from '../../../src/daemon/commands/retry.ts';
import { startDaemon } from '../../../src/daemon/daemon.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import { stateOf } from '../../../src/pipeline/file/facts.ts';
import { silentLogger } from '../../pipeline/silent-logger.ts';
import { startVideoHost } from '../../e2e/video-host.ts';
import type { HostOptions, VideoHost } from '../../e2e/video-host.ts';
import { until } from '../../support/until.ts';
import { loadedConfig } from '../../support/configuration.ts';
import type { Settings } from '../../support/configuration.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { refusal } from '../../e2e/answers.ts';

interface Sending {
  readonly channel: string;
  readonly title?: string;
  readonly publish?: string[];
}

/** A daemon beside a service, with a folder and a rule that a test may change. */
async function open(
  options: HostOptions = {},
  { publish = { quiet: '100ms', at_most: '200ms' }, ...settings }: Pick<Settings, 'publish' | 'retry'> = {},
) {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await startVideoHost(options));
  const scratch = stack.use(await scratchDirectory());
  await mkdir(scratch.file('inbox'));
  const inbox = scratch.file('inbox');
  const configOf = (rule: Sending): Promise<Config> =>
    loadedConfig(scratch, {
      service: { base_url: host.baseUrl, api_key: host.key },
      publish,
      ...settings,
      folders: [{ rules: [{ match: '**', ...rule }] }],
    });
  const rule = { channel: 'ch_main', publish: ['feed_news'] };
  const start = async (): Promise<Daemon> => startDaemon(await configOf(rule), silentLogger);
  const running = { daemon: await start() };
  stack.defer(() => running.daemon.stop(AbortSignal.abort()));
  const facts = async (path: string) => running.daemon.ledger.atPath(inbox, path);
  const owned = stack.move();
  return {
    host,
    inbox,
    facts,
    get daemon() {
      return running.daemon;
    },
    drop: (path: string) => writeFile(`${inbox}/${path}`, `what is in ${path}`),
    reaches: (path: string, state: string) =>
      until(`${path} is ${state}`, async () => {
        const found = await facts(path);
        return found !== null && stateOf(found) === state;
      }),
    reload: async (changed: Sending) => running.daemon.reload(await configOf(changed)),
    restart: async () => {
      await running.daemon.stop(AbortSignal.abort());
      running.daemon = await start();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test('a file that is being uploaded is ignored: its upload is cut, and it stays ignored over a restart until it is retried', async () => {
  let isHanging = true;
  const station = await open({ meddleUpload: () => isHanging });
  await using _ = station;
  await station.drop('clip.mpg');
  await until('its upload has begun', () => station.host.puts.length === 1);
  const result = await ignore(station.daemon, { names: ['clip.mpg'], by: 'anna' });
  expect(result).toMatchObject({ files: 1, records: 1, refused: [] });
  expect(await station.facts('clip.mpg')).toMatchObject({ end: 'skipped', why: 'ignored by anna', uploadedAt: null });
  await station.restart();
  await station.daemon.folders.rescan();
  expect(await station.facts('clip.mpg')).toMatchObject({ end: 'skipped', why: 'ignored by anna' });
  isHanging = false;
  expect(await retry(station.daemon, { names: ['clip.mpg'] })).toMatchObject({ files: 1, refused: [] });
  await station.reaches('clip.mpg', 'done');
  expect([...station.host.videos.values()].map(({ bodies }) => bodies.length)).toEqual([1]);
  expect(await ignore(station.daemon, { names: ['clip.mpg'], by: 'anna' })).toMatchObject({
    files: 0,
    refused: [{ why: expect.stringMatching(/^done: .*dropcast videos delete v/) }],
  });
});

const refuse = (response: ServerResponse, status: number): true => refusal(response, status, 'refused');

/** How files come into a state from which they are retried. */
interface Ailment {
  readonly name: string;
  readonly state: string;
  readonly options?: (ill: { is: boolean }) => HostOptions;
  readonly afterwards?: (host: VideoHost) => void;
}

const ailments: readonly Ailment[] = [
  {
    name: 'failed on the service',
    state: 'failed',
    afterwards: ({ videos }) => videos.forEach((video) => Object.assign(video, { status: 'failed' })),
    options: () => ({ processingMs: () => 3_600_000 }),
  },
  {
    name: 'have an upload that was refused',
    state: 'failed',
    options: (ill) => ({ meddleUpload: (_, response) => ill.is && refuse(response, 413) }),
  },
  {
    name: 'have a create request that was refused',
    state: 'failed',
    options: (ill) => ({ meddle: ({ method }, response) => ill.is && method === 'POST' && refuse(response, 422) }),
  },
  {
    name: 'wait for their next upload',
    state: 'retrying',
    options: (ill) => ({ meddleUpload: (_, response) => ill.is && refuse(response, 409) }),
  },
  {
    name: 'have a video that was deleted while it was processed',
    state: 'held',
    afterwards: ({ videos }) => videos.clear(),
    options: () => ({ processingMs: () => 3_600_000 }),
  },
  { name: 'are done, and their video was deleted', state: 'done', afterwards: ({ videos }) => videos.clear() },
];

test.for(ailments)('a retry costs at most what was said, and little less: files that $name', async (ailment) => {
  const { state, options, afterwards } = ailment;
  const ill = { is: true };
  let processingMs = options?.(ill).processingMs;
  const station = await open(
    { ...options?.(ill), processingMs: () => processingMs?.() ?? 100 },
    // No file is retried before the command asks for it.
    { publish: { quiet: '2s', at_most: '1m' }, retry: { first: '10m', max: '15m' } },
  );
  await using _ = station;
  const names = ['1.mpg', '2.mpg', '3.mpg'];
  for (const each of names) await station.drop(each);
  if (afterwards !== undefined && state !== 'done') {
    for (const each of names) await station.reaches(each, 'processing');
    afterwards(station.host);
  }
  for (const each of names) await station.reaches(each, state);
  if (state === 'done') afterwards?.(station.host);
  Object.assign(ill, { is: false });
  processingMs = undefined;
  const { requests: promised } = await retry(station.daemon, { names }, { isPlanned: true });
  const before = station.host.requests.length;
  expect((await retry(station.daemon, { names })).refused).toEqual([]);
  for (const each of names) await station.reaches(each, 'done');
  await station.daemon.stop(AbortSignal.abort());
  const used = station.host.requests.length - before;
  expect(used).toBeLessThanOrEqual(promised);
  // Each may be asked for alone or with the others.
  expect(promised - used).toBeLessThanOrEqual(names.length + 1);
});

test('finished files that a selection holds are left for one reason, however many they are', async () => {
  const station = await open();
  await using _ = station;
  for (const name of ['1.mpg', '2.mpg']) await station.drop(name);
  for (const name of ['1.mpg', '2.mpg']) await station.reaches(name, 'done');
  const { left } = await ignore(station.daemon, { names: [], selection: {}, by: 'anna' }, { isPlanned: true });
  expect(left).toMatchObject([{ files: 2, why: expect.stringContaining('`dropcast videos delete ID`') }]);
});

test('a file that is put first is sent before those that came earlier, also after a restart; undone, it waits for its turn', async () => {
  const station = await open();
  await using _ = station;
  await pause(station.daemon, { folders: [station.inbox], until: null, by: 'anna' });
  // Files of one size would be compared first.
  const names = ['1.mpg', '22.mpg', '333.mpg', '4444.mpg'];
  for (const name of names) {
    await station.drop(name);
    await station.reaches(name, 'queued');
  }
  const put = await first(station.daemon, { names: ['4444.mpg', '333.mpg', 'no.mpg'], by: 'anna' });
  expect(put).toMatchObject({ files: 2, requests: 0, refused: [{ name: 'no.mpg' }] });
  expect(await first(station.daemon, { names: ['22.mpg'], by: 'bob' }, { isPlanned: true })).toMatchObject({
    files: 1,
  });
  expect(await first(station.daemon, { names: ['1.mpg', '333.mpg'], by: 'bob', isUndone: true })).toMatchObject({
    files: 1,
    refused: [{ name: '1.mpg', why: 'not put first' }],
  });
  await station.restart();
  await station.daemon.folders.rescan();
  await resume(station.daemon, { folder: station.inbox, by: 'anna' });
  for (const name of names) await station.reaches(name, 'done');
  const titles = Array.from(station.host.videos.values(), ({ title }) => title);
  expect(titles).toEqual(['4444', '1', '22', '333']);
  const { id } = (await station.facts('4444.mpg')) ?? { id: '' };
  const notes = (await station.daemon.ledger.history(id)).map(({ note }) => note);
  expect(notes).toContain('put first by anna');
  expect(await first(station.daemon, { names: ['4444.mpg'], by: 'anna' })).toMatchObject({
    refused: [{ why: 'done: it waits for no turn' }],
  });
  // A history line of a file that is over would be news of it again.
  expect(await first(station.daemon, { names: ['4444.mpg'], by: 'anna', isUndone: true })).toMatchObject({
    refused: [{ why: 'not put first' }],
  });
});

test('many files of one kind are ignored by their state, with the pattern that excludes further ones; undone, they continue', async () => {
  const station = await open();
  await using _ = station;
  await pause(station.daemon, { folders: [station.inbox], until: null, by: 'anna' });
  for (const name of ['1.mkv', '2.mkv', '3.mpg']) await station.drop(name);
  for (const name of ['1.mkv', '2.mkv', '3.mpg']) await station.reaches(name, 'queued');
  const selection = { states: ['queued'], text: '.mkv' };
  const planned = await ignore(station.daemon, { names: [], selection, by: 'anna' }, { isPlanned: true });
  expect([planned.files, planned.requests, planned.planned]).toEqual([2, 0, true]);
  expect(await station.facts('1.mkv')).toMatchObject({ end: null });
  const result = await ignore(station.daemon, { names: [], selection, by: 'anna' });
  expect(result).toMatchObject({
    files: 2,
    excludes: [{ folder: station.inbox, key: 'folders[0]', pattern: '**/*.mkv' }],
  });
  expect(await ignore(station.daemon, { names: ['1.mkv', '3.mpg'], by: 'bob', isUndone: true })).toMatchObject({
    files: 1,
    refused: [{ name: '3.mpg', why: 'not ignored' }],
  });
  expect(stateOf((await station.facts('1.mkv')) ?? expect.fail())).toBe('queued');
});

test('a paused folder begins nothing over a restart, says so in the row, and continues when it is resumed', async () => {
  const station = await open();
  await using _ = station;
  const until18 = Date.now() + 3_600_000;
  const paused = await pause(station.daemon, { folders: [station.inbox, '/nowhere'], until: until18, by: 'anna' });
  expect(paused).toMatchObject({
    paused: [{ folder: station.inbox, until: until18, by: 'anna' }],
    refused: [{ name: '/nowhere', why: expect.stringContaining(station.inbox) }],
  });
  await station.drop('clip.mpg');
  await station.reaches('clip.mpg', 'queued');
  await station.restart();
  await station.daemon.folders.rescan();
  expect(station.daemon.pauses.list()).toMatchObject([{ folder: station.inbox, by: 'anna' }]);
  expect(await station.daemon.picture({ isFresh: true })).toMatchObject({
    outlook: { limited_by: 'pause', why: expect.stringMatching(/paused by anna since .* until/) },
  });
  expect(station.host.videos.size).toBe(0);
  expect(await resume(station.daemon, { folder: station.inbox, by: 'bob' })).toMatchObject({ ok: true });
  await station.reaches('clip.mpg', 'done');
  expect(await resume(station.daemon, { folder: null, by: 'bob' })).toEqual({ ok: true, what: 'Nothing was paused' });
});

test('a feed is published on request, and one that no rule has is refused with the list', async () => {
  const station = await open();
  await using _ = station;
  expect(await publish(station.daemon, { feeds: ['feed_news', 'feed_nwes'] })).toMatchObject({
    feeds: [{ feed: 'feed_news', is: 'published' }],
    refused: [{ name: 'feed_nwes', why: expect.stringContaining('feed_news') }],
  });
  expect(station.host.publishes.map(({ feed }) => feed)).toEqual(['feed_news']);
});

test('what commands answer is printed as JSON as it is: every name in it is in snake_case', async () => {
  const station = await open();
  await using _ = station;
  await station.drop('clip.mpg');
  await station.reaches('clip.mpg', 'done');
  await station.reload({ channel: 'ch_main', title: 'New {title}' });
  const [names, how] = [['clip.mpg', 'no.mpg'], { isPlanned: true }] as const;
  const results = [
    await retry(station.daemon, { names, channel: 'ch_main' }, how),
    await ignore(station.daemon, { names, by: 'anna' }, how),
    await publish(station.daemon, { feeds: ['feed_news'] }, how),
    await reapply(station.daemon, { names }, how),
  ];
  expect(results.map(({ planned }) => planned)).toEqual([true, true, true, true]);
  const keys = JSON.stringify(results).match(/"\w+":/g) ?? [];
  expect(keys.filter((key) => key !== key.toLowerCase())).toEqual([]);
  expect(keys).toContain('"video_id":');
});

test('changed rules reach a finished file only on request, cost first; its channel stays', async () => {
  const station = await open();
  await using _ = station;
  await station.drop('clip.mpg');
  await station.reaches('clip.mpg', 'done');
  const [video] = station.host.videos.values();
  await station.reload({ channel: 'ch_other', title: 'New {title}', publish: ['feed_news', 'feed_tv'] });
  await station.daemon.folders.rescan();
  expect([video?.title, station.host.publishes.length]).toEqual(['clip', 1]);
  const planned = await reapply(station.daemon, { names: [] }, { isPlanned: true });
  expect(planned).toMatchObject({
    files: 1,
    patches: 1,
    publishes: ['feed_news', 'feed_tv'],
    requests: 3,
    changes: [{ changes: [{ what: 'title', from: 'clip', to: 'New clip' }, { what: 'feeds' }] }],
    left: [{ files: 1, why: expect.stringContaining('ch_other') }],
  });
  expect(video?.title).toBe('clip');
  await reapply(station.daemon, { names: [] });
  await until('both feeds are published again', () => station.host.publishes.length === 3);
  expect([video?.title, video?.channelId]).toEqual(['New clip', 'ch_main']);
  expect(await reapply(station.daemon, { names: [] })).toMatchObject({ files: 0, same: 1, requests: 0 });
});
