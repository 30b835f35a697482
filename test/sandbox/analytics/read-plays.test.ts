import { expect, test } from 'vitest';
import { ReadPlays } from '../../../packages/sandbox/src/analytics/read-plays.ts';
import { addVideo, newAccount } from './account.ts';

const TODAY = { from: '2026-11-04', to: '2026-11-04' };
const HOUR_MS = 3_600_000;

/** A video of 600 s and 6,000 bytes: 10 bytes are a second, 600 the first minute. */
function newReads() {
  const account = newAccount();
  addVideo(account.records, 'vid_1', { durationS: 600, sizeBytes: 6000 });
  const reads = new ReadPlays({ ...account, seed: 1 });
  const read = (start: number, bytesSent: number, userAgent = 'Podcasts/1') =>
    reads.note({ videoId: 'vid_1', remoteAddress: '127.0.0.1', userAgent, start, bytesSent });
  const today = () => account.records.statistics.ofVideo('vid_1', TODAY);
  return { ...account, reads, read, today };
}

test('a view counts after the first minute, and emits one event', () => {
  const { read, today, told } = newReads();
  read(0, 599);
  expect(today().views).toBe(0);
  read(599, 1);
  expect(today()).toMatchObject({ views: 1, uniqueViewers: 1, averageWatchS: 60, completionRate: 0 });
  read(600, 600);
  expect(today()).toMatchObject({ views: 1, averageWatchS: 120 });
  expect(told).toEqual([{ type: 'video.played', id: 'vid_1' }]);
});

test('the same bytes again add nothing', () => {
  const { read, today } = newReads();
  for (let time = 0; time < 5; time += 1) read(0, 500);
  expect(today().views).toBe(0);
  read(400, 400);
  expect(today()).toMatchObject({ views: 1, averageWatchS: 80 });
});

test('a probe of two bytes and an answer without bytes are no view', () => {
  const { read, today } = newReads();
  read(0, 2);
  read(0, 0);
  expect(today().views).toBe(0);
});

test('reading all but the last tenth completes it', () => {
  const { read, today } = newReads();
  read(0, 5400);
  expect(today()).toMatchObject({ views: 1, completionRate: 1 });
});

test('another program is another viewer', () => {
  const { read, today } = newReads();
  read(0, 6000);
  read(0, 6000, 'Television/2');
  expect(today()).toMatchObject({ views: 2, uniqueViewers: 2 });
});

test('one viewer is one view in 24 hours, and another one afterwards', () => {
  const { read, today, clock, records } = newReads();
  clock.freeze();
  read(0, 600);
  clock.advance(24 * HOUR_MS - 1);
  read(0, 6000);
  expect(records.statistics.ofVideo('vid_1', { ...TODAY, to: '2026-11-09' }).views).toBe(1);
  clock.advance(1);
  read(0, 6000);
  expect(today().views).toBe(1);
  expect(records.statistics.ofVideo('vid_1', { ...TODAY, to: '2026-11-09' })).toMatchObject({
    views: 2,
    uniqueViewers: 1,
  });
});

test('a new process continues the play of the last one', () => {
  const account = newReads();
  account.read(0, 900);
  const next = new ReadPlays({ ...account, seed: 1 });
  next.note({ videoId: 'vid_1', remoteAddress: '127.0.0.1', userAgent: 'Podcasts/1', start: 0, bytesSent: 600 });
  expect(account.today()).toMatchObject({ views: 1, averageWatchS: 90 });
});

test('what was read before a reset does not count for the video that gets the same id', () => {
  const { reads, read, today } = newReads();
  read(0, 599);
  reads.forget();
  read(599, 1);
  expect(today().views).toBe(0);
});

test('an unknown video and one that is not ready are no view', () => {
  const { reads, records, told } = newReads();
  const video = { title: 'T', description: null, channelId: 'ch_a', tags: [], sourceUrl: null, createdAtMs: 0 };
  records.videos.create(video, () => 'vid_pending');
  for (const videoId of ['vid_pending', 'vid_nobody'])
    reads.note({ videoId, remoteAddress: '127.0.0.1', userAgent: '', start: 0, bytesSent: 1e9 });
  expect(told).toEqual([]);
});

test('scattered single bytes do not fill the memory, and a complete read still counts', () => {
  const { read, today } = newReads();
  for (let byte = 0; byte < 5000; byte += 2) read(byte, 1);
  expect(today()).toMatchObject({ views: 1, averageWatchS: 100 });
  read(0, 6000);
  expect(today().averageWatchS).toBe(600);
});
