import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { ApiError } from '../http/api-error.ts';
import { nameField, textField, timeField } from '../http/input.ts';
import { wholeVideo } from '../http/wire.ts';
import type { Services } from '../services.ts';
import type { Failure } from '../store/videos.ts';
import { receiveFile } from '../uploads/receive.ts';
import { seededToken } from '../seeded-random.ts';
import { inTransaction } from '../store/database.ts';
import { openSamples } from '../admin/samples.ts';

/** Input for making a video in a test, without an upload. */
export type NewReadyVideo = z.input<typeof newReadyVideo>;

type Parts = Pick<
  Services,
  'settings' | 'records' | 'mediaFiles' | 'lifecycle' | 'acceptance' | 'admission' | 'clock' | 'links'
>;

/**
 * Makes a video that is immediately ready or failed, with a small real file behind it: a sample, or the package's clip.
 * @param era in which the video was requested
 * @throws ApiError 409 if a reset intervenes, 422 for invalid fields
 */
export async function makeVideo(fields: z.output<typeof newReadyVideo>, parts: Parts, era = parts.acceptance.era) {
  requireSameEra(era, parts);
  const { records, admission, clock, links } = parts;
  const channelId = fields.channel_id ?? records.channels.list()[0]?.id ?? '';
  if (!records.channels.find(channelId)) throw new ApiError('invalid_request', 'channel_id: there is no such channel.');
  if (fields.created_at !== undefined && fields.created_at > clock.nowMs())
    throw new ApiError('invalid_request', 'created_at: must not be in the future of the clock.');
  const { title, description = null, tags = [] } = fields;
  const admit = (): string => {
    const { id } = admission.admit({ title, description, channelId, tags: [...tags], sourceUrl: null });
    records.videos.adjust(id, { createdAtMs: fields.created_at, durationS: fields.duration }); // before a webhook reports it
    return id;
  };
  const id = fields.failure === undefined ? await ready(admit, era, parts) : failed(admit(), fields.failure, parts);
  const made = records.videos.find(id);
  if (made === undefined) throw new ApiError('conflict', 'The video was deleted in the meantime.');
  return wholeVideo(made, links);
}

async function ready(admit: () => string, era: number, parts: Parts): Promise<string> {
  const { settings, records, mediaFiles, lifecycle, acceptance } = parts;
  const samples = await openSamples(settings.samplesDir);
  const bytes = await samples.bytes(records.videos.count({}));
  const file = await receiveFile(Readable.from([bytes]), mediaFiles.incoming);
  if (acceptance.era !== era) await rm(file.path, { force: true });
  requireSameEra(era, parts);
  const id = admit();
  await acceptance.accept(id, file, era);
  lifecycle.finish(id);
  return id;
}

function requireSameEra(era: number, { acceptance }: Parts): void {
  if (acceptance.era !== era)
    throw new ApiError('conflict', 'A reset or an import replaced all records in the meantime.');
}

function failed(id: string, failure: Failure, { lifecycle }: Parts): string {
  lifecycle.fail(id, failure);
  return id;
}

export const newReadyVideo = z.strictObject({
  title: nameField(500),
  description: textField(10_000).optional(),
  channel_id: z.string().optional(),
  tags: z.array(nameField(200), 'must be an array of strings').max(200, 'must have at most 200 tags').optional(),
  /** Recorded duration; the file keeps its own length. */
  duration: z.number('must be a number of seconds').positive('must be above 0').max(1e7).optional(),
  created_at: timeField.optional(),
  /** Reason why the video failed. If absent, the video is ready. */
  failure: z.strictObject({ code: nameField(100), message: textField(1000) }).optional(),
});

/** Input for making one play in a test. */
export type NewPlay = z.input<typeof newPlay>;

type PlayParts = Pick<Services, 'records' | 'clock' | 'events' | 'settings'>;

/** Adds plays, all or none. @throws ApiError 422 for an unknown video, or a time later than the sandbox clock's */
export function makePlays(plays: readonly z.output<typeof newPlay>[], parts: PlayParts): { readonly plays: number } {
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
function addOne(
  play: z.output<typeof newPlay>,
  startedAtMs: number,
  { records: { plays }, settings }: PlayParts,
): void {
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
