import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createEventStream } from '../../../src/daemon/events.ts';
import { createNewsLines } from '../../../src/daemon/news/lines.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import { createLive } from '../../../src/status/page/live.ts';
import { silentLogger } from '../../pipeline/silent-logger.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function some(uploads = 0, wasBehind = () => false) {
  const events = createEventStream(silentLogger);
  const news = createNewsLines({ now: () => 0 }, (error) => expect.unreachable(String(error)));
  const picture = { wasBehind };
  const daemon = {
    events,
    news,
    picture,
    conductor: { uploads: () => Array.from({ length: uploads }) },
  } as unknown as Daemon;
  let before = 0;
  const live = createLive(daemon, new AbortController().signal, () => (before += 1));
  const heard: string[] = [];
  return { events, news, live, heard, listen: () => live.listen((type) => heard.push(type)), before: () => before };
}

const folder = { type: 'folder', folder: '/srv/in', state: 'frozen', why: 'it is away' } as const;

test('readers hear the events of the daemon, its news, and what a person did', () => {
  const { events, news, live, heard, listen, before } = some();
  listen();
  events.emit(folder);
  news.tell(folder);
  live.tell('command');
  expect(heard).toEqual(['folder', 'news', 'command']);
  expect(before()).toBe(3);
});

test('a reload by a command is announced: the view of the configuration waits for it', () => {
  const { news, heard, listen } = some();
  listen();
  news.add({ level: 'info', type: 'reload', file: null, folder: null, path: null, state: null, text: 'loaded again' });
  expect(heard).toEqual(['reload']);
});

test('while uploads run, readers receive progress twice a second', async () => {
  const { heard, listen } = some(1);
  listen();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(heard).toEqual(Array.from({ length: 10 }, () => 'progress'));
});

test('without uploads, and without readers, there is no progress', async () => {
  const { heard, listen } = some(0);
  listen();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(heard).toEqual([]);
  const unseen = some(1);
  unseen.listen()();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(unseen.heard).toEqual([]);
  expect(vi.getTimerCount()).toBe(1);
});

test('when the last reader leaves, nothing listens any longer, and the next one receives events again', () => {
  const { events, live, heard, listen } = some();
  const [first, second] = [listen(), listen()];
  first();
  second();
  events.emit(folder);
  expect([live.readers(), heard]).toEqual([0, []]);
  listen();
  events.emit(folder);
  expect([live.readers(), heard]).toEqual([1, ['folder']]);
});

// The last of many events was in no overview for 30 s: it was asked for while a read of before was kept.
test('readers reload once more when they were shown a picture that is out of date', () => {
  let wasBehind = true;
  const { heard, listen } = some(0, () => wasBehind);
  listen();
  vi.advanceTimersByTime(500);
  wasBehind = false;
  vi.advanceTimersByTime(5_000);
  expect(heard).toEqual(['progress']);
});
