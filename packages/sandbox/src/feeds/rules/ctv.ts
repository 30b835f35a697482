import { z } from 'zod';
import { SHORT_FORM_MAX_S } from '../ctv.ts';
import type { Finding } from './finding.ts';
import { atMost, day, schemaFindings, seconds, webAddress, zonedTime } from './json.ts';

/** Checks the rules of Roku's Direct Publisher format that a service without series or captions can break. */
export function ctvFindings(feed: unknown): Iterable<Finding> {
  return schemaFindings(feed, schema, ['shortFormVideos', 'movies']);
}

const LENGTHS = 'a video up to 15 minutes is short-form, a longer one a movie';

const content = (duration: z.ZodType<number>) =>
  z.object({
    dateAdded: zonedTime,
    duration,
    videos: z
      .array(
        z.object({
          url: webAddress,
          quality: z.enum(['HD', 'FHD', 'UHD']),
          videoType: z.enum(['HLS', 'SMOOTH', 'DASH', 'MP4', 'MOV', 'M4V']),
          bitrate: z.int().min(1),
        }),
      )
      .min(1),
  });

const video = z
  .object({
    id: atMost(50),
    title: atMost(200),
    shortDescription: atMost(200),
    longDescription: atMost(500).optional(),
    thumbnail: webAddress,
    releaseDate: day,
    tags: z.array(atMost(20)).optional(),
  })
  .refine((value) => value.longDescription !== value.shortDescription, {
    path: ['longDescription'],
    message: 'must be different from shortDescription',
  });

const schema = z.object({
  providerName: z.string().min(1),
  lastUpdated: zonedTime,
  language: z.string().min(2),
  shortFormVideos: z.array(
    z.intersection(video, z.object({ content: content(seconds.max(SHORT_FORM_MAX_S, LENGTHS)) })),
  ),
  movies: z.array(
    z.intersection(
      video,
      z.object({ content: content(seconds.min(SHORT_FORM_MAX_S + 1, LENGTHS)), genres: z.array(z.string()).min(1) }),
    ),
  ),
});
