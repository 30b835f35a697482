import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Clock } from '../../packages/sandbox/src/clock.ts';
import { Events } from '../../packages/sandbox/src/events.ts';
import { Lifecycle } from '../../packages/sandbox/src/lifecycle.ts';
import { ChannelStore } from '../../packages/sandbox/src/store/channels.ts';
import { openDatabase } from '../../packages/sandbox/src/store/database.ts';
import { ProcessingStore } from '../../packages/sandbox/src/store/processing.ts';
import { VideoStore } from '../../packages/sandbox/src/store/videos.ts';
import { playable } from './playable.ts';

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

function processing(dueAtMs: number) {
  const database = openDatabase(':memory:');
  new ChannelStore(database).add({ id: 'ch', name: 'C', slug: 'c', createdAtMs: 0 });
  const videos = new VideoStore(database);
  const video = { title: 'T', description: null, channelId: 'ch', tags: [], sourceUrl: null, createdAtMs: 0 };
  videos.create(video, () => 'vid');
  const store = new ProcessingStore(database);
  store.startProcessing({ videoId: 'vid', sizeBytes: 1, sha256: 'x' }, playable, { nowMs: 0, dueAtMs });
  const events = new Events();
  const parts = { processing: store, seed: 1, processingMs: { min: 0, max: 0 } };
  return {
    videos,
    store,
    events,
    lifecycle: new Lifecycle({ ...parts, clock: new Clock(Date.now), events, fateOf: () => undefined }),
  };
}

test.each([500, 3 * 3_600_000])('a video due in %i ms becomes ready without any request', (dueAtMs) => {
  const { videos, lifecycle } = processing(dueAtMs);
  lifecycle.advance();
  vi.advanceTimersByTime(dueAtMs - 1);
  expect(videos.find('vid')?.status).toBe('processing');
  vi.advanceTimersByTime(60_000);
  expect(videos.find('vid')?.status).toBe('ready');
  expect(vi.getTimerCount()).toBe(0);
});

test('a video that is due in 40 days does not keep the timer firing: 2^31 ms are less than that', () => {
  processing(40 * 24 * 3_600_000).lifecycle.advance();
  let fired = 0;
  for (; Date.now() < 60_000 && fired < 5; fired += 1) vi.advanceTimersToNextTimer();
  expect(fired).toBeLessThan(5);
  expect(vi.getTimerCount()).toBe(1);
});

test('after close nothing changes, and no timer is left', () => {
  const { videos, lifecycle } = processing(500);
  lifecycle.advance();
  lifecycle.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(1000);
  expect(videos.find('vid')?.status).toBe('processing');
});

test('on a full disk due videos stay due; they become ready when there is room again', () => {
  const { videos, store, lifecycle } = processing(500);
  const finish = vi.spyOn(store, 'finishDue').mockImplementation(() => {
    throw FULL;
  });
  lifecycle.advance();
  vi.advanceTimersByTime(10_000); // an error in a timer would end the process
  expect(videos.find('vid')?.status).toBe('processing');
  expect(finish.mock.calls.length).toBeLessThan(20);
  finish.mockRestore();
  vi.advanceTimersByTime(1000);
  expect(videos.find('vid')?.status).toBe('ready');
  expect(vi.getTimerCount()).toBe(0);
});

test('a video does not become ready while its event cannot be stored', () => {
  const { videos, events, lifecycle } = processing(0);
  let isFull = true;
  const told: string[] = [];
  events.listen(({ type }) => {
    if (isFull) throw FULL;
    told.push(type);
  });
  lifecycle.advance();
  expect(videos.find('vid')?.status).toBe('processing');
  isFull = false;
  vi.advanceTimersByTime(1000);
  expect([videos.find('vid')?.status, told]).toEqual(['ready', ['video.ready']]);
});

const FULL = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
