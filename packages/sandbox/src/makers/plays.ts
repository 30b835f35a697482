import { z } from 'zod';
import { ApiError } from '../http/api-error.ts';
import type { Services } from '../services.ts';
import { seededToken } from '../seeded-random.ts';
import { inTransaction } from '../store/database.ts';
import { timeField } from './fields.ts';

/** Input for making one play in a test. */
export type NewPlay = z.input<typeof newPlay>;

type Parts = Pick<Services, 'records' | 'clock' | 'events' | 'settings'>;

/** Adds plays, all or none. @throws ApiError 422 for an unknown video, or a time later than the sandbox clock's */
export function makePlays(plays: readonly z.output<typeof newPlay>[], parts: Parts): { readonly plays: number } {
  const { records, clock, events } = parts;
  const nowMs = clock.nowMs();
  inTransaction(records.database, () => {
    for (const [index, play] of plays.entries()) {
      const startedAtMs = play.at ?? nowMs;
      if (!records.videos.find(play.video_id))
        throw new ApiError('invalid_request', `${index}.video_id: there is no such video.`);
      if (startedAtMs > nowMs)
        throw new ApiError('invalid_request', `${index}.at: must not be in the future of the clock.`);
      addOne(play, startedAtMs, parts);
    }
  });
  events.emit('video.played', '');
  return { plays: plays.length };
}

/** Adds a play under the next free id. Deleted videos leave gaps in the ids. */
function addOne(play: z.output<typeof newPlay>, startedAtMs: number, { records: { plays }, settings }: Parts): void {
  const { video_id: videoId, seconds: watchedS, complete: isComplete } = play;
  for (let number = plays.lastNumber(); ; number += 1) {
    const id = `play_${seededToken(settings.seed, ['made play', number], 16)}`;
    const viewer = play.viewer ?? `viewer of ${id}`;
    if (plays.add({ id, videoId, viewer, source: 'history', startedAtMs, watchedS, isComplete })) return;
  }
}

const newPlay = z.strictObject({
  video_id: z.string('must be the id of a video'),
  /** Seconds watched. */
  seconds: z.number('must be a number of seconds').min(0, 'must not be negative').max(1e7),
  /** The viewer's name; plays with the same name have the same viewer. Default: a new viewer. */
  viewer: z.string().min(1).max(200).optional(),
  at: timeField.optional(),
  complete: z.boolean('must be true or false').default(false),
});

export const newPlays = z.array(newPlay, 'must be a list of plays').min(1).max(10_000, 'must be at most 10000 plays');
