import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { openSamples } from '../admin/sample-media.ts';
import { ApiError } from '../http/api-error.ts';
import { nameField, textField } from '../http/input.ts';
import { wholeVideo } from '../http/wire.ts';
import type { Services } from '../services.ts';
import type { Failure } from '../store/videos.ts';
import { receiveFile } from '../uploads/receive.ts';
import { timeField } from './fields.ts';

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
