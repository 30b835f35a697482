import type { z } from 'zod';
import { mistakesAsText } from '../http/input.ts';
import type { Services } from '../services.ts';
import { makeChannel, newChannel, type NewChannel, makeFeed, newFeed, type NewFeed } from './channels.ts';
import { makeVideo, newReadyVideo, type NewReadyVideo, makePlays, newPlays, type NewPlay } from './videos.ts';

/**
 * Makes exactly the records that a test needs, without delay. Fields are named as in the API, and the results are what
 * the API would return. Every method throws a TypeError for invalid fields, and an error with `code` if the record
 * cannot be made, for instance because its id exists or its channel does not.
 */
export interface Make {
  /** Makes a channel. @returns the channel; its id and slug are derived from its name unless given */
  channel(fields: NewChannel): ReturnType<typeof makeChannel>;
  /** Makes a feed. @returns the feed, which is empty until it is published */
  feed(fields: NewFeed): ReturnType<typeof makeFeed>;
  /** Makes a video with a small file behind it. @returns the video: failed if `failure` is given, otherwise ready */
  video(fields: NewReadyVideo): ReturnType<typeof makeVideo>;
  /** Adds exactly these plays, all or none. */
  plays(...plays: readonly NewPlay[]): void;
}

export function createMake(services: Services): Make {
  // Makes videos one at a time, so that videos requested together always get the same ids.
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
