import { expect, test } from 'vitest';
import type { NamesOfService } from '../../src/pipeline/service-names.ts';
import { files, hour, minute, outside, startCore } from './running-core.ts';
import { failure, ready, someFacts } from './some-facts.ts';

const live = new AbortController().signal;
const used: NamesOfService = { channel: ['ch_main'], feed: ['feed_news'] };
const noChannel = failure('permanent', { status: 422, code: 'invalid_channel' });

test('files of a channel that was deleted wait as a group: one refusal, one list, one line of news, no failure', async () => {
  const world = outside(files(200));
  world.service.names.channel = [];
  world.service.failing.set('create', noChannel);
  const core = startCore(world);
  await core.until(() => core.store.states().every((state) => state === 'retrying'));
  await core.pass(5 * minute);
  // Two lanes create at the same time.
  expect(world.service.count('create')).toBeLessThanOrEqual(2);
  expect(world.service.count('channels')).toBeLessThanOrEqual(2);
  expect(world.service.count('probe')).toBe(0);
  expect(core.told.filter(({ type }) => type === 'name')).toEqual([
    { type: 'name', kind: 'channel', name: 'ch_main', isKnown: false },
  ]);
  expect(core.told.filter(({ type }) => type === 'failure')).toEqual([]);
  expect(core.store.all[0]?.lastFailure?.message).toContain('the service has no channel "ch_main"');
  expect(core.conductor.names.unknown()).toMatchObject([{ kind: 'channel', name: 'ch_main' }]);
  expect(core.paid()).toBe(0);
});

test('they continue once the channel is there again, with one list in ten minutes until then', async () => {
  const world = outside(files(20));
  world.service.names.channel = [];
  world.service.failing.set('create', noChannel);
  const core = startCore(world);
  await core.until(() => core.store.states().every((state) => state === 'retrying'));
  await core.pass(3 * hour);
  expect(world.service.count('channels')).toBeLessThanOrEqual(20 + 3);
  // Each hour the first of them try whether the list is right.
  expect(world.service.count('create')).toBeLessThanOrEqual(2 + 3 * 2);
  world.service.names.channel = ['ch_main'];
  world.service.failing.clear();
  await core.until(() =>
    core.store.states().every((state) => state === 'processing' || state === 'awaiting publish' || state === 'done'),
  );
  expect(core.conductor.names.unknown()).toEqual([]);
  expect(core.told.filter(({ type }) => type === 'name')).toHaveLength(2);
});

test('files of other channels continue in the meantime', async () => {
  const [first, second] = files(2);
  if (first === undefined || second === undefined || second.plan === null) throw new Error('two files');
  const world = outside([first, { ...second, plan: { ...second.plan, channel: 'ch_other' } }]);
  world.service.names.channel = ['ch_other'];
  world.service.failing.set('create in ch_main', noChannel);
  const core = startCore(world);
  expect((await core.conductor.names.ask(used, live)).ok).toBe(true);
  await core.until(() => core.store.all.some(({ videoId }) => videoId !== null));
  await core.pass(5_000);
  expect(core.store.all.map(({ id, videoId }) => [id, videoId !== null])).toEqual([
    ['f_0', false],
    ['f_1', true],
  ]);
});

test('a refusal that has nothing to do with the channel fails the file, as the service has the channel', async () => {
  const world = outside(files(3));
  world.service.failing.set('create', noChannel);
  const core = startCore(world);
  await core.until(() => core.store.states().every((state) => state === 'failed'));
  expect(world.service.count('channels')).toBeLessThanOrEqual(2);
});

test('videos wait for a feed that was deleted, and are published when it is there again', async () => {
  const world = outside([someFacts(ready)]);
  world.service.videos.set('vid_1', { title: 'Clip', status: 'ready' });
  world.service.names.feed = [];
  world.service.failing.set('publish feed_news', failure('gone', { status: 404 }));
  const core = startCore(world);
  await core.pass(hour);
  expect(core.store.states()).toEqual(['awaiting publish']);
  expect(core.conductor.feedsWaiting()[0]?.failure?.message).toContain('the service has no feed "feed_news"');
  expect(world.service.count('publish feed_news')).toBeLessThanOrEqual(2);
  expect(core.store.all.map(({ lastFailure }) => lastFailure)).toMatchObject([
    { code: 'unknown_feed', feed: 'feed_news' },
  ]);
  expect(core.told.filter(({ type }) => type === 'feed' || type === 'failure')).toEqual([]);
  world.service.names.feed = ['feed_news'];
  world.service.failing.clear();
  await core.until(() => core.store.states()[0] === 'done');
});

test('a feed that a person creates and publishes is looked for at once', async () => {
  const world = outside([someFacts(ready)]);
  world.service.videos.set('vid_1', { title: 'Clip', status: 'ready' });
  world.service.names.feed = [];
  world.service.failing.set('publish feed_news', failure('gone', { status: 404 }));
  const core = startCore(world);
  await core.until(() => core.store.all[0]?.lastFailure?.code === 'unknown_feed');
  world.service.names.feed = ['feed_news'];
  world.service.failing.clear();
  const { answer } = await core.conductor.publishNow('feed_news');
  expect(await answer).toMatchObject({ ok: true, files: 1 });
  await core.until(() => core.store.states()[0] === 'done');
});

test('lists that could not be asked for because the service was away are asked for when it is back', async () => {
  const world = outside([]);
  world.service.failing.set('all', failure('offline'));
  const core = startCore(world);
  expect((await core.conductor.names.ask(used, live)).ok).toBe(false);
  await core.pass(hour);
  expect(world.service.count('channels')).toBe(1);
  world.store.all.push(...files(1));
  core.conductor.wake();
  await core.until(() => core.conductor.pause() !== null);
  world.service.names.channel = ['ch_else'];
  world.service.failing.clear();
  world.service.failing.set('create in ch_main', noChannel);
  await core.until(() => core.conductor.names.unknown().length > 0);
  await core.until(() => core.store.states()[0] === 'retrying');
  expect(world.service.videos.size).toBe(0);
});

test('a service without such lists is asked once, and everything continues', async () => {
  const world = outside(files(3));
  world.service.failing.set('channels', failure('gone', { status: 404 }));
  const core = startCore(world);
  expect((await core.conductor.names.ask(used, live)).ok).toBe(false);
  await core.until(() => core.store.states().every((state) => state === 'done'));
  expect(world.service.count('channels')).toBe(1);
  expect(core.conductor.names.unknown()).toEqual([]);
});

test('a channel that works is used although the list of the service lacks it, and nothing keeps coming back to it', async () => {
  const world = outside(files(20));
  world.service.names.channel = ['ch_else'];
  const core = startCore(world);
  expect((await core.conductor.names.ask(used, live)).ok).toBe(true);
  expect(core.conductor.names.unknown()).toHaveLength(1);
  await core.until(() => core.store.states().every((state) => state === 'done'));
  expect(core.conductor.names.unknown()).toEqual([]);
  expect(world.service.count('channels')).toBe(1);
});

test('a channel that works again is found although the list still lacks it', async () => {
  const world = outside(files(20));
  world.service.names.channel = [];
  world.service.failing.set('create', noChannel);
  const core = startCore(world);
  await core.until(() => core.store.states().every((state) => state === 'retrying'));
  world.service.failing.clear();
  await core.pass(2 * hour);
  expect(core.store.states().every((state) => state === 'done')).toBe(true);
});

test('a refusal in a channel that works counts against its file, whatever the list says', async () => {
  const world = outside(files(2));
  world.service.names.channel = [];
  const core = startCore(world);
  await core.conductor.names.ask(used, live);
  await core.until(() => core.store.states().every((state) => state === 'done'));
  world.service.failing.set('create', noChannel);
  world.store.all.push(...files(3).slice(2));
  core.conductor.wake();
  await core.until(() => core.store.states().includes('failed'));
});

test('an unknown name that nothing waits for costs no request', async () => {
  const world = outside([]);
  world.service.names.channel = [];
  const core = startCore(world);
  await core.conductor.names.ask(used, live);
  expect(core.conductor.names.unknown()).toHaveLength(1);
  for (let hours = 0; hours < 5; hours += 1) await core.pass(hour);
  expect(world.service.count('channels')).toBe(1);
  expect(world.service.count('feeds')).toBe(1);
});
