import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { retry } from '../../../src/daemon/commands/retry.ts';
import { undo, undoOf } from '../../../src/daemon/commands/undo.ts';
import { startDaemon } from '../../../src/daemon/daemon.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import { stateOf } from '../../../src/pipeline/file/facts.ts';
import { silentLogger } from '../../pipeline/silent-logger.ts';
import { runSandbox } from '../../sandbox/running-sandbox.ts';
import { loadedConfig } from '../../support/configuration.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';

const wrong = { match: '**', channel: 'ch_main', publish: ['feed_main'] };
const right = { match: '**', channel: 'ch_news', publish: ['feed_news'] };

/** A desk whose rule sends everything to the wrong channel, with a sandbox. */
async function open(stack: AsyncDisposableStack, count: number) {
  const service = stack.use(await runSandbox({ seedData: 'none', requestsPerHour: 100_000, seed: 7 }));
  const { baseUrl, apiKey } = service.sandbox;
  for (const [id, name] of [
    ['ch_main', 'Main'],
    ['ch_news', 'News'],
  ] as const)
    service.sandbox.make.channel({ id, name });
  service.sandbox.make.feed({ id: 'feed_main', name: 'Main', channel_id: 'ch_main' });
  service.sandbox.make.feed({ id: 'feed_news', name: 'News', channel_id: 'ch_news' });
  const scratch = stack.use(await scratchDirectory());
  const inbox = scratch.file('inbox');
  await mkdir(inbox);
  const sample = await readFile(new URL('../../media/interview.mp3', import.meta.url));
  // Each file has content of its own.
  const drop = (name: string) => writeFile(`${inbox}/${name}`, Buffer.concat([sample, Buffer.from(name)]));
  const names = Array.from({ length: count }, (_, n) => `clip${n}.mp3`);
  for (const name of names) await drop(name);
  const configOf = (rule: typeof wrong) =>
    loadedConfig(scratch, {
      service: { base_url: baseUrl, api_key: apiKey, requests_per_hour: 100_000 },
      publish: { quiet: '100ms', at_most: '200ms' },
      folders: [{ rules: [rule] }],
    });
  const start = async (rule: typeof wrong): Promise<Daemon> =>
    stack.use(await startDaemon(await configOf(rule), silentLogger));
  const daemon = await start(wrong);
  const facts = async (name: string) => daemon.ledger.atPath(inbox, name);
  const states = async () => (await daemon.ledger.rows({ group: 'any' })).map(stateOf);
  await until('all are done', async () => (await states()).filter((state) => state === 'done').length === count);
  const ids = async () => (await daemon.ledger.rows({ group: 'any' })).flatMap(({ videoId }) => videoId ?? []);
  const reaches = (name: string, state: string) =>
    until(`${name} is ${state}`, async () => {
      const found = await facts(name);
      return found !== null && stateOf(found) === state;
    });
  const isOver = () => until('the run is over', async () => (await undoOf(daemon)).run?.ended_at != null);
  return {
    service,
    inbox,
    daemon,
    names,
    drop,
    facts,
    states,
    ids,
    reaches,
    isOver,
    reload: async (rule: typeof wrong) => daemon.reload(await configOf(rule)),
  };
}

const wantedBy = { by: 'root', rule: 'folders[0].rules[0]' } as const;

/** 240 take three minutes of the sandbox, which inspects each file. */
const count = 24;

test('files of a wrong rule are taken back, and nothing else: edited, adopted, changed and lost ones stay', async () => {
  await using stack = new AsyncDisposableStack();
  const desk = await open(stack, count);
  const { daemon, service, inbox } = desk;
  const id = async (n: number) => (await desk.facts(`clip${n}.mp3`))?.videoId ?? '';
  // Three are edited by hand, one is deleted on the service, one is changed on disk; another user has a video of the same title.
  for (const n of [1, 2]) await service.call('PATCH', `/videos/${await id(n)}`, { title: `Corrected ${n}` });
  await service.call('PATCH', `/videos/${await id(3)}`, { tags: ['by hand'] });
  await service.call('DELETE', `/videos/${await id(4)}`);
  const foreign = await service.create({ title: 'clip5', channel_id: 'ch_main' });
  await daemon.rows.claim((await desk.facts('clip6.mp3'))?.id ?? '', (row) => row.write({ sha256: null }));
  await appendFile(`${inbox}/clip7.mp3`, 'more');
  const listed = await undo(daemon, wantedBy);
  expect(listed).toMatchObject({
    planned: true,
    feeds: ['feed_main'],
    check: { requests: Math.ceil((count - 2) / 100) + 2, why: null },
  });
  const before = service.sandbox.requests().length;
  const checked = await undo(daemon, { ...wantedBy, check: true });
  expect(checked.kept).toMatchObject([{ why: 'edited: title', files: 2 }]);
  expect(service.sandbox.requests().length - before).toBeLessThanOrEqual(listed.check.requests + 5);
  expect(checked.left.map(({ why }) => why)).toContain('adopted: dropcast did not upload it');
  // A list from another time is refused, and says the number.
  const stale = await undo(daemon, { ...wantedBy, check: true, yes: checked.files + 1 });
  expect(stale).toMatchObject({
    planned: true,
    why: expect.stringContaining(`${checked.files} would be taken back now`),
  });
  await desk.reload(right);
  const begun = await undo(daemon, { ...wantedBy, check: true, yes: checked.files });
  expect(begun).toMatchObject({ planned: false, why: null });
  await desk.isOver();
  const { run } = await undoOf(daemon);
  expect(run).toMatchObject({ by: 'root', files: checked.files, taken: checked.files - 1, left: 0 });
  expect(run?.kept).toMatchObject([{ why: 'edited on the service since: tags' }]);
  const deleted = service.sandbox
    .requests()
    .filter(({ operation, status }) => operation === 'videos.delete' && status < 300);
  // One of them is the person's own.
  expect(deleted).toHaveLength(checked.files - 2 + 1);
  for (const n of [1, 2, 3, 6]) expect((await service.call('GET', `/videos/${await id(n)}`)).status).toBe(200);
  expect((await service.call('GET', `/videos/${foreign.id}`)).status).toBe(200);
  expect(await desk.facts('clip0.mp3')).toMatchObject({
    end: 'skipped',
    why: expect.stringMatching(/^taken back by root: /),
  });
  // The feed is published again, and does not have it any longer.
  await until('nothing is to be published', async () => (await daemon.ledger.feedsDue()).length === 0);
  const feed = (await service.call('GET', '/feeds')).body.data.find((each: { id: string }) => each.id === 'feed_main');
  const xml = await (await fetch(feed.url)).text();
  expect(xml.match(/<item>/g)?.length ?? 0).toBeGreaterThan(0);
  for (const { video_id: video } of begun.videos.slice(0, 100))
    if (video !== (await id(3))) expect(xml).not.toContain(video);
  // Neither scan nor rule uploads it again; a retry does, by the rule of today.
  await daemon.folders.rescan();
  expect(await desk.facts('clip0.mp3')).toMatchObject({ end: 'skipped', videoId: null });
  expect(await retry(daemon, { names: ['clip0.mp3'] })).toMatchObject({ files: 1, refused: [] });
  await desk.reaches('clip0.mp3', 'done');
  expect((await desk.facts('clip0.mp3'))?.plan).toMatchObject({ channel: 'ch_news', publish: ['feed_news'] });
}, 300_000);

test('a restart continues what was begun, and a stop ends it', async () => {
  await using stack = new AsyncDisposableStack();
  const desk = await open(stack, 6);
  const { daemon } = desk;
  const { files } = await undo(daemon, { by: 'root', since: 0 });
  expect(await undo(daemon, { by: 'root', since: 0, yes: files })).toMatchObject({ why: null });
  expect(await undo(daemon, { by: 'root', since: 0, yes: files })).toMatchObject({ planned: true });
  await undoOf(daemon, 'anna');
  await desk.isOver();
  const { run } = await undoOf(daemon);
  const states = await desk.states();
  expect(run).toMatchObject({
    stopped_by: 'anna',
    left: 0,
    taken: states.filter((state) => state === 'skipped').length,
  });
  expect(run?.taken).toBeLessThan(files);
});
