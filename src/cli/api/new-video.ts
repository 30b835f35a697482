import type { NewVideo } from '@dropcast/client';

/** The options of every command that makes a record. */
export interface NewVideoOptions {
  readonly title: string;
  readonly channel?: string;
  readonly description?: string;
  readonly tag?: readonly string[];
}

export function newVideo({ title, channel, description, tag }: NewVideoOptions): NewVideo {
  return {
    title,
    ...(channel !== undefined && { channelId: channel }),
    ...(description !== undefined && { description }),
    ...(tag !== undefined && { tags: tag }),
  };
}
