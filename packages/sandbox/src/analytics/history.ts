import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Records } from '../store/records.ts';
import { seededFraction, seededToken } from '../seeded-random.ts';
import { inTransaction } from '../store/database.ts';
import type { Play } from '../store/plays.ts';
import type { Video } from '../store/videos.ts';
import { DAY_MS, dayOf } from './period.ts';

interface HistoryParts {
  readonly records: Pick<Records, 'database' | 'videos' | 'plays'>;
  readonly nowMs: number;
  readonly seed: number;
  /** Length of the history in days, including today: 1 or more. */
  readonly days: number;
  /** Called before each video; false stops the work. */
  readonly isWanted: () => boolean;
}

/**
 * Generates plausible plays for ready videos: many after publication and fewer each day, fewer on weekends and none at
 * night, a few viewers who watch a lot and many who leave early. The same seed, videos and day produce the same plays;
 * a second call on the same day adds only those that have come due since. Requests are served between videos, because a
 * year of 1,000 videos is 600,000 plays. @returns the number of plays added
 */
export async function seedHistory(parts: HistoryParts): Promise<number> {
  const { records, isWanted } = parts;
  let added = 0;
  for (const video of readyVideos(records)) {
    if (!isWanted()) break;
    if (records.videos.find(video.id)) added += addPlays(video, parts); // otherwise it was deleted in the meantime
    await nextTurn();
  }
  return added;
}

function addPlays(video: Video, parts: HistoryParts): number {
  const { database, plays } = parts.records;
  return inTransaction(database, () => [...playsOf(video, parts)].filter((play) => plays.add(play)).length);
}

function* readyVideos({ videos }: HistoryParts['records']): Generator<Video> {
  for (let page = 1; ; page += 1) {
    const batch = videos.page({ status: 'ready' }, page, BATCH).videos;
    yield* batch;
    if (batch.length < BATCH) return;
  }
}

const BATCH = 1000;

function* playsOf(video: Video, parts: HistoryParts): Generator<Play> {
  const { seed, nowMs, days } = parts;
  const today = Math.floor(nowMs / DAY_MS);
  const publishedOn = publicationDay(video, parts);
  for (let day = Math.max(publishedOn, today - days + 1); day <= today; day += 1) {
    const name = [video.id, dayOf(day * DAY_MS)];
    const count = viewsOn(day, day - publishedOn, { seed, name, popularity: popularityOf(video, seed) });
    for (let index = 0; index < count; index += 1) {
      const play = playOf(video, day, { seed, name: [...name, index] });
      if (play.startedAtMs <= nowMs) yield play;
    }
  }
}

/**
 * Returns the day on which a video counts as published. Most videos in a sandbox are from today and would have no
 * history, so they get a day in the first half of the period. Older videos keep their own day.
 */
function publicationDay(video: Video, { seed, nowMs, days }: HistoryParts): number {
  const today = Math.floor(nowMs / DAY_MS);
  const createdOn = Math.floor(video.createdAtMs / DAY_MS);
  if (createdOn < today) return createdOn;
  return today - days + 1 + Math.floor((seededFraction(seed, ['published', video.id]) * days) / 2);
}

/** Returns the views on the first day, 5 to 80; only a few videos get many. */
function popularityOf(video: Video, seed: number): number {
  return 5 * 16 ** seededFraction(seed, ['popularity', video.id]);
}

function viewsOn(day: number, age: number, { seed, name, popularity }: Named & { popularity: number }): number {
  const decay = 0.08 + 0.92 * Math.exp(-age / 6); // a tenth of the first day's views stays for long
  const weekday = new Date(day * DAY_MS).getUTCDay();
  const rhythm = weekday === 0 || weekday === 6 ? 0.6 : 1;
  const noise = 0.7 + 0.6 * seededFraction(seed, ['views', ...name]);
  return Math.round(popularity * decay * rhythm * noise);
}

interface Named {
  readonly seed: number;
  readonly name: readonly (string | number)[];
}

function playOf(video: Video, day: number, { seed, name }: Named): Play {
  const drawn = (what: string) => seededFraction(seed, [what, ...name]);
  const hour = 6 + 9 * (drawn('hour') + drawn('minute')); // two draws make a hill: most in the afternoon, none at night
  const isComplete = drawn('completes') < 0.45;
  const watchedFraction = isComplete ? 0.9 + 0.1 * drawn('watched') : 0.9 * drawn('watched') ** 1.8;
  return {
    id: `play_${seededToken(seed, ['play', ...name], 20)}`,
    videoId: video.id,
    viewer: `viewer_${Math.floor(drawn('viewer') ** 2 * VIEWERS)}`,
    source: 'history',
    startedAtMs: day * DAY_MS + Math.floor(hour * HOUR_MS),
    watchedS: watchedFraction * (video.durationS ?? 0),
    isComplete,
  };
}

const HOUR_MS = 3_600_000;

/** Number of viewers. Low-numbered ones watch most often. */
const VIEWERS = 600;
