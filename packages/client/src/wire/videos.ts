import * as z from 'zod/mini';

import { Address, Amount, Id, longestAddress, Reason, Tags, Text } from './fields.ts';
import { oneOf, orMissing, textWithin } from './tolerant.ts';
import type { OpenWord } from './tolerant.ts';
import { counted, one, readMeta, renamed } from './reader.ts';
import type { Reader } from './reader.ts';
import { uploadHeadersOf } from './upload-headers.ts';

/** A status from api-spec section 3, or one that the service adds later. */
export type VideoStatus = OpenWord<'pending' | 'processing' | 'ready' | 'failed'>;

/** A newly created record. */
export interface CreatedVideo {
  readonly id: string;
  /** The address for `send`; null for an import. Do not print it: it is signed, and anyone who has it may upload. */
  readonly uploadUrl: string | null;
  /**
   * Headers that the upload address requires, with lower-case names; missing if there are none. `send` sends them to no
   * other origin. Do not print the values, which may be signatures or tokens.
   */
  readonly uploadHeaders?: Readonly<Record<string, string>>;
  readonly status: VideoStatus;
}

/**
 * A video. The specification does not list the fields of a single video, so only id and status are guaranteed. Times
 * are ISO 8601, as sent.
 */
export interface Video {
  readonly id: string;
  readonly status: VideoStatus;
  readonly title?: string;
  readonly description?: string;
  readonly channelId?: string;
  readonly tags?: readonly string[];
  /** Duration in seconds; missing until the service knows it. */
  readonly duration?: number;
  readonly createdAt?: string;
  /** Thumbnail address; missing until there is one. */
  readonly thumbnailUrl?: string;
  readonly embedUrl?: string;
  /** Address from which an import is fetched. */
  readonly sourceUrl?: string;
  /** Reason for a failure, if the service gives one. */
  readonly message?: string;
}

/**
 * A video as lists return it (api-spec section 2.1). Lists do not include the description, channel and tags: the video
 * may still have them, so use `get`. Strings that the service omits, contrary to the specification, are empty.
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
  /** Number of videos on all pages; null if the service does not state it. */
  readonly total: number | null;
  /** Number of further entries on the page that do not match the specification. */
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
  // Fields that may hold the reason for a failure; the specification does not define one.
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

/** Reads a page of videos. The request supplies `meta` fields missing from the response. */
export function readVideoPage(asked: { readonly page: number; readonly perPage: number }): Reader<VideoPage> {
  const readVideos = counted(z.pipe(VideoAnswer, z.transform(listItemOf)));
  return (json) => {
    const read = readVideos(json);
    if (read === undefined) return undefined;
    const { page = asked.page, perPage = asked.perPage, total = null } = readMeta(json);
    return { videos: read.entries, page, perPage, total, unreadable: read.unreadable };
  };
}

function videoOf(answer: z.output<typeof VideoAnswer>): Video {
  const { error, failure_reason: reason, status_message: said, ...wire } = answer;
  return renamed({ ...wire, message: error ?? reason ?? said });
}

function listItemOf(wire: z.output<typeof VideoAnswer>): VideoListItem {
  return { title: '', createdAt: '', embedUrl: '', ...videoOf(wire) };
}

function createdOf(wire: z.output<typeof CreatedAnswer>): CreatedVideo {
  const uploadHeaders = uploadHeadersOf(wire);
  return {
    id: wire.id,
    // Cut just above the limit, so that the record's id is still read and `send` refuses the address.
    uploadUrl: wire.upload_url?.slice(0, longestAddress + 1) ?? null,
    ...(Object.keys(uploadHeaders).length > 0 && { uploadHeaders }),
    status: wire.status ?? 'pending',
  };
}
