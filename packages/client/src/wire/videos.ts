import * as z from 'zod/mini';

import { Address, Amount, Id, longestAddress, Reason, Tags, Text } from './fields.ts';
import { orMissing } from './or-missing.ts';
import { oneOf } from './known-word.ts';
import type { OpenWord } from './known-word.ts';
import { readMeta } from './list-page.ts';
import { counted, one, present } from './reader.ts';
import type { Reader } from './reader.ts';
import { textWithin } from './text-within.ts';
import { uploadHeadersOf } from './upload-headers.ts';

/** The words of api-spec section 3, or one that the service adds later. */
export type VideoStatus = OpenWord<'pending' | 'processing' | 'ready' | 'failed'>;

/** A record that was just made. */
export interface CreatedVideo {
  readonly id: string;
  /** The address for `send`; null for an import. It is signed, and everyone who has it may upload: do not print it. */
  readonly uploadUrl: string | null;
  /**
   * Headers that the upload address needs, names in lower case; missing if it needs none. `send` sends them to no other
   * origin. They may be signed, or a token: do not print their values.
   */
  readonly uploadHeaders?: Readonly<Record<string, string>>;
  readonly status: VideoStatus;
}

/**
 * A video. The specification does not show which fields a single one has, so only id and status are certain; times are
 * ISO 8601, as sent.
 */
export interface Video {
  readonly id: string;
  readonly status: VideoStatus;
  readonly title?: string;
  readonly description?: string;
  readonly channelId?: string;
  readonly tags?: readonly string[];
  /** Seconds; missing until the service knows it. */
  readonly duration?: number;
  readonly createdAt?: string;
  /** Missing until there is one. */
  readonly thumbnailUrl?: string;
  readonly embedUrl?: string;
  /** The address of an import. */
  readonly sourceUrl?: string;
  /** Why it failed, if the service says. */
  readonly message?: string;
}

/**
 * A video in a list, with what lists carry (api-spec section 2.1). Description, channel and tags are not among it: they
 * are missing here, which does not mean that the video has none; `get` tells. A text that the service leaves out
 * against its specification is empty.
 */
export interface VideoListItem extends Video {
  readonly title: string;
  readonly createdAt: string;
  readonly embedUrl: string;
}

/** One page of a list of videos. */
export interface VideoPage {
  readonly videos: readonly VideoListItem[];
  readonly page: number;
  readonly perPage: number;
  /** Null if the service does not say. */
  readonly total: number | null;
  /** How many more entries the page has, which are not videos as the specification shows them. */
  readonly unreadable: number;
}

const VideoAnswer = z.object({
  id: Id,
  title: Text,
  description: Text,
  channel_id: Text,
  tags: Tags,
  status: oneOf('pending', 'processing', 'ready', 'failed'),
  duration: Amount,
  created_at: Text,
  thumbnail_url: Address,
  embed_url: Address,
  source_url: Address,
  // Fields in which a failed video may say why; the specification does not show one.
  error: Reason,
  failure_reason: Reason,
  status_message: Reason,
});

const CreatedAnswer = z.looseObject({
  id: Id,
  upload_url: z.nullish(textWithin(1, Infinity)),
  status: orMissing(oneOf('pending', 'processing', 'ready', 'failed')),
});

export const readVideo: Reader<Video> = one(z.pipe(VideoAnswer, z.transform(videoOf)));

export const readCreated: Reader<CreatedVideo> = one(z.pipe(CreatedAnswer, z.transform(createdOf)));

/** A page of videos; what `meta` of the answer lacks comes from the request. */
export function readVideoPage(asked: { readonly page: number; readonly perPage: number }): Reader<VideoPage> {
  const readVideos = counted(z.pipe(VideoAnswer, z.transform(listItemOf)));
  return (json) => {
    const read = readVideos(json);
    if (read === undefined) return undefined;
    const { page = asked.page, perPage = asked.perPage, total = null } = readMeta(json);
    return { videos: read.entries, page, perPage, total, unreadable: read.unreadable };
  };
}

function videoOf(wire: z.output<typeof VideoAnswer>): Video {
  return present({
    id: wire.id,
    status: wire.status,
    title: wire.title,
    description: wire.description,
    channelId: wire.channel_id,
    tags: wire.tags,
    duration: wire.duration,
    createdAt: wire.created_at,
    thumbnailUrl: wire.thumbnail_url,
    embedUrl: wire.embed_url,
    sourceUrl: wire.source_url,
    message: wire.error ?? wire.failure_reason ?? wire.status_message,
  });
}

function listItemOf(wire: z.output<typeof VideoAnswer>): VideoListItem {
  return { title: '', createdAt: '', embedUrl: '', ...videoOf(wire) };
}

function createdOf(wire: z.output<typeof CreatedAnswer>): CreatedVideo {
  const uploadHeaders = uploadHeadersOf(wire);
  return {
    id: wire.id,
    // Cut just above the limit: the record is known by its id, and `send` refuses the address.
    uploadUrl: wire.upload_url?.slice(0, longestAddress + 1) ?? null,
    ...(Object.keys(uploadHeaders).length > 0 && { uploadHeaders }),
    status: wire.status ?? 'pending',
  };
}
