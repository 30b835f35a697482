import { describe, expect, test } from 'vitest';
import type { VideoMedia } from '../../../packages/sandbox/src/store/videos.ts';
import { embedProgress, readProgress } from '../../../packages/sandbox/src/analytics/read-plays.ts';

const HOUR_MS = 3_600_000;

describe('what a player reports', () => {
  test.each([
    ['is believed when it was possible', { watchedS: 30, elapsedMs: 30_000, durationS: 100 }, 30],
    ['is believed at double speed', { watchedS: 60, elapsedMs: 30_000, durationS: 100 }, 60],
    ['is cut to what was possible', { watchedS: 100, elapsedMs: 30_000, durationS: 100 }, 61],
    ['is cut right after the start', { watchedS: 100, elapsedMs: 0, durationS: 100 }, 1],
    [
      'may be more than the duration, for a player that loops',
      { watchedS: 500, elapsedMs: HOUR_MS, durationS: 100 },
      500,
    ],
    ['is cut to ten times the duration', { watchedS: 5000, elapsedMs: HOUR_MS, durationS: 100 }, 1000],
    ['is cut by time alone without a duration', { watchedS: 1e9, elapsedMs: 10_000, durationS: null }, 21],
  ])('%s', (_what, { watchedS, elapsedMs, durationS }, expected) => {
    expect(embedProgress({ watchedS, isEnded: false }, elapsedMs, durationS).watchedS).toBe(expected);
  });

  test.each([
    ['90 % is complete', { watchedS: 90, isEnded: false }, 100, true],
    ['less is not', { watchedS: 89.9, isEnded: false }, 100, false],
    ['the end alone, after a seek, is not', { watchedS: 3, isEnded: true }, 100, false],
    ['the end counts where the duration is unknown', { watchedS: 3, isEnded: true }, null, true],
    ['but not without having watched anything', { watchedS: 0, isEnded: true }, null, false],
  ])('%s', (_what, report, durationS, isComplete) => {
    expect(embedProgress(report, HOUR_MS, durationS).isComplete).toBe(isComplete);
  });
});

describe('what reads of the file amount to', () => {
  const media = (durationS: number | null) => ({ sizeBytes: 10_000, durationS }) as VideoMedia;

  test.each([
    ['a minute of a long file is a view', 1000, 600, true],
    ['less is none', 999, 600, false],
    ['a short file must be read to its end', 9999, 30, false],
    ['and is a view then', 10_000, 30, true],
    ['so must one without a duration', 9999, null, false],
    ['and that is a view too', 10_000, null, true],
  ])('%s', (_what, bytes, durationS, isView) => {
    expect(readProgress(bytes, media(durationS)).isView).toBe(isView);
  });

  test('time is estimated from the part that was read, and never above the duration', () => {
    expect(readProgress(2500, media(600))).toMatchObject({ watchedS: 150, isComplete: false });
    expect(readProgress(9000, media(600))).toMatchObject({ watchedS: 540, isComplete: true });
    expect(readProgress(20_000, media(600))).toMatchObject({ watchedS: 600, isComplete: true });
    expect(readProgress(10_000, media(null))).toMatchObject({ watchedS: 0, isComplete: true });
  });
});
