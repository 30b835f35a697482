import { expect, test } from 'vitest';
import { EmbedPlays } from '../../../packages/sandbox/src/analytics/embed-plays.ts';
import { addVideo, newAccount, NOON } from './account.ts';

function newPlays() {
  const account = newAccount();
  addVideo(account.records, 'vid_1', { durationS: 100 });
  const real = { ms: 0 };
  const plays = new EmbedPlays({ ...account, uptimeMs: () => real.ms });
  const opened = plays.open('vid_1', 'ann');
  const playId = 'playId' in opened ? opened.playId : '';
  const report = (watchedS: number) => plays.report('vid_1', playId, { watchedS, isEnded: false });
  const stored = () => account.records.plays.find(playId);
  return { ...account, plays, playId, real, report, stored };
}

test('counts a play when it opens, and emits an event', () => {
  const { stored, told, playId } = newPlays();
  expect(stored()).toEqual({
    id: playId,
    videoId: 'vid_1',
    viewer: 'ann',
    source: 'embed',
    startedAtMs: NOON,
    watchedS: 0,
    isComplete: false,
  });
  expect(told).toEqual([{ type: 'video.played', id: 'vid_1' }]);
});

test('while the clock is frozen, real time counts', () => {
  const { clock, real, report, stored } = newPlays();
  clock.freeze();
  real.ms = 20_000;
  report(30);
  expect(stored()?.watchedS).toBe(30);
  report(90);
  expect(stored()?.watchedS).toBe(41);
});

test('while the clock is put forward, its time counts', () => {
  const { clock, report, stored } = newPlays();
  clock.advance(60_000);
  report(95);
  expect(stored()).toMatchObject({ watchedS: 95, isComplete: true });
});

test('progress only grows, despite late or repeated reports', () => {
  const { clock, report, stored } = newPlays();
  clock.advance(100_000);
  for (const watchedS of [50, 95, 50, 0]) report(watchedS);
  expect(stored()).toMatchObject({ watchedS: 95, isComplete: true });
});

test('a play belongs to its video, and a foreign or unknown one cannot be reported', () => {
  const { records, plays, playId, stored, clock } = newPlays();
  addVideo(records, 'vid_2');
  clock.advance(60_000);
  const report = { watchedS: 5, isEnded: false };
  expect(plays.report('vid_2', playId, report)).toBe(false);
  expect(plays.report('vid_1', 'play_other', report)).toBe(false);
  expect(stored()?.watchedS).toBe(0);
});

test('a player cannot report a play that was noticed by reads', () => {
  const { records, plays } = newPlays();
  const play = { id: 'play_read', videoId: 'vid_1', viewer: 'x', startedAtMs: NOON, watchedS: 0, isComplete: false };
  records.plays.add({ ...play, source: 'read' });
  expect(plays.report('vid_1', 'play_read', { watchedS: 1, isEnded: false })).toBe(false);
});

test('after its video was deleted a play is unknown', () => {
  const { records, report } = newPlays();
  records.plays.forget('vid_1');
  records.videos.remove('vid_1');
  expect(report(5)).toBe(false);
});

test('only a ready video is played', () => {
  const { records, plays, told } = newPlays();
  const video = { title: 'T', description: null, channelId: 'ch_a', tags: [], sourceUrl: null, createdAtMs: NOON };
  records.videos.create(video, () => 'vid_pending');
  expect(plays.open('vid_pending', 'ann')).toEqual({ refusal: 'not ready' });
  expect(plays.open('vid_nobody', 'ann')).toEqual({ refusal: 'no such video' });
  expect(told).toHaveLength(1);
});
