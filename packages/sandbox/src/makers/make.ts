import type { z } from 'zod';
import { mistakesAsText } from '../http/input.ts';
import type { Services } from '../services.ts';
import { makeChannel, newChannel, type NewChannel } from './channels.ts';
import { makeFeed, newFeed, type NewFeed } from './feeds.ts';
import { makePlays, newPlays, type NewPlay } from './plays.ts';
import { makeVideo, newReadyVideo, type NewReadyVideo } from './videos.ts';

/**
 * Makes what a test needs, at once and exactly. The names of the fields are those of the API. What is made is returned
 * as the API gives it. Each throws a TypeError for fields that are wrong, and an error with `code` for what cannot be
 * made: an id that there is, a channel that there is not.
 */
export interface Make {
  /** @returns the channel. Its id and slug come from its name unless they are given */
  channel(fields: NewChannel): ReturnType<typeof makeChannel>;
  /** @returns the feed, which is empty until it is published */
  feed(fields: NewFeed): ReturnType<typeof makeFeed>;
  /** @returns a video that is ready, or failed for the `failure` that is given, with a small file behind it */
  video(fields: NewReadyVideo): ReturnType<typeof makeVideo>;
  /** Adds exactly these plays, all or none. */
  plays(...plays: readonly NewPlay[]): void;
}

export function createMake(services: Services): Make {
  // One after the other, so that videos that are asked for at the same time get the same ids every time.
  let before: Promise<unknown> = Promise.resolve();
  const videoInTurn = (fields: z.output<typeof newReadyVideo>): ReturnType<typeof makeVideo> => {
    const { era } = services.acceptance;
    const made = before.then(() => makeVideo(fields, services, era));
    before = made.catch(() => undefined);
    return made;
  };
  return {
    channel: (fields) => makeChannel(checked(newChannel, fields), services),
    feed: (fields) => makeFeed(checked(newFeed, fields), services),
    video: async (fields) => await videoInTurn(checked(newReadyVideo, fields)),
    plays: (...plays) => void makePlays(checked(newPlays, plays), services),
  };
}

function checked<Schema extends z.ZodType>(schema: Schema, fields: unknown): z.output<Schema> {
  const result = schema.safeParse(fields);
  if (result.success) return result.data;
  throw new TypeError(mistakesAsText(result.error, 'object'));
}
