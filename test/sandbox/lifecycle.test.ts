import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Clock } from '../../src/sandbox/clock.ts';
import { Events } from '../../src/sandbox/events.ts';
import { Library } from '../../src/sandbox/library.ts';
import { Lifecycle } from '../../src/sandbox/lifecycle.ts';
import { ChannelStore } from '../../src/sandbox/store/channels.ts';
import { openDatabase } from '../../src/sandbox/store/database.ts';
import { VideoStore } from '../../src/sandbox/store/videos.ts';
import { playable } from './playable.ts';

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

function processing(dueAtMs: number) {
  const database = openDatabase(':memory:');
  new ChannelStore(database).add({ id: 'ch', name: 'C', slug: 'c', createdAtMs: 0 });
  const videos = new VideoStore(database);
  const video = { title: 'T', description: null, channelId: 'ch', tags: [], sourceUrl: null, createdAtMs: 0 };
  videos.create(video, () => 'vid');
  videos.startProcessing({ videoId: 'vid', sizeBytes: 1, sha256: 'x' }, playable, { nowMs: 0, dueAtMs });
  const probe = async () => playable;
  const parts = { videos, library: new Library('/nowhere'), probe, seed: 1, processingMs: { min: 0, max: 0 } };
  return {
    videos,
    lifecycle: new Lifecycle({ ...parts, clock: new Clock(Date.now), events: new Events(), fateOf: () => undefined }),
  };
}

test.each([500, 3 * 3_600_000])('a video that is due in %i ms becomes ready by itself, when nobody asks', (dueAtMs) => {
  const { videos, lifecycle } = processing(dueAtMs);
  lifecycle.advance();
  vi.advanceTimersByTime(dueAtMs - 1);
  expect(videos.find('vid')?.status).toBe('processing');
  vi.advanceTimersByTime(60_000);
  expect(videos.find('vid')?.status).toBe('ready');
  expect(vi.getTimerCount()).toBe(0);
});

test('a video that is due in 40 days does not keep the timer firing: 2^31 ms are less than that', () => {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  processing(40 * 24 * 3_600_000).lifecycle.advance();
  vi.advanceTimersByTime(60_000);
  expect(timers.mock.calls.length).toBeLessThan(5);
  expect(vi.getTimerCount()).toBe(1);
});

test('after close nothing moves, and no timer is left', () => {
  const { videos, lifecycle } = processing(500);
  lifecycle.advance();
  lifecycle.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(1000);
  expect(videos.find('vid')?.status).toBe('processing');
});
