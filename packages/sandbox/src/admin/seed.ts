import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { seedHistory } from '../analytics/history.ts';
import { ApiError } from '../http/api-error.ts';
import { jsonBodyIfAny, type Endpoint } from '../http/input.ts';
import { seededFraction } from '../seeded-random.ts';
import { receiveFile } from '../uploads/receive.ts';
import type { NewVideoFields } from '../video-admission.ts';
import type { Services } from '../services.ts';
import { openSamples } from './samples.ts';

type SeedParts = Pick<
  Services,
  'settings' | 'records' | 'mediaFiles' | 'lifecycle' | 'acceptance' | 'admission' | 'clock' | 'events'
>;

/** Endpoint that adds sample videos and plays. */
export function seedEndpoint(parts: SeedParts): Endpoint {
  return {
    method: 'POST',
    path: '/_sandbox/seed',
    says: 'Adds {"videos": 0 to 1000} (20) from real files, processed at once, and made-up plays of {"days": 0 to 366} (30).',
    handler: async (context) => {
      const { videos, days } = await jsonBodyIfAny(context.req.raw, amounts);
      const visit = { hasGone: context.req.raw.signal, era: parts.acceptance.era };
      await addVideos(videos, visit, parts);
      return context.json({ data: { videos, plays: await addPlays(days, visit, parts) } }, 201);
    },
  };
}

const upTo = (max: number) =>
  z.int(`must be a whole number from 0 to ${max}`).min(0).max(max, `must be at most ${max}`);
const amounts = z.strictObject({ videos: upTo(1000).default(20), days: upTo(366).default(30) });

/**
 * Adds each file the way an upload does, so a damaged sample becomes a failed video. Stops early if the client
 * disconnects.
 * @throws ApiError 409 a reset or an import intervened
 */
async function addVideos(count: number, { hasGone, era }: Visit, parts: SeedParts): Promise<void> {
  const { settings, records, mediaFiles, lifecycle, acceptance, admission } = parts;
  const samples = await openSamples(settings.samplesDir);
  const first = records.videos.count({});
  for (let index = first; index < first + count && !hasGone.aborted; index += 1) {
    const file = await receiveFile(Readable.from([await samples.bytes(index)]), mediaFiles.incoming);
    if (acceptance.era !== era) {
      await rm(file.path, { force: true });
      throw replacedMeanwhile();
    }
    const { id } = admission.admit(fieldsOf(index, parts));
    await acceptance.accept(id, file, era);
    lifecycle.finish(id);
  }
}

async function addPlays(days: number, { hasGone, era }: Visit, parts: SeedParts): Promise<number> {
  const { settings, records, acceptance, clock, events } = parts;
  if (days === 0) return 0;
  const isWanted = () => !hasGone.aborted && acceptance.era === era;
  const plays = await seedHistory({ records, nowMs: clock.nowMs(), seed: settings.seed, days, isWanted });
  if (acceptance.era !== era) throw replacedMeanwhile();
  if (plays > 0) events.emit('video.played', '');
  return plays;
}

/** The current request, and the era in which it started. */
interface Visit {
  readonly hasGone: AbortSignal;
  /** The era of `Acceptance`. */
  readonly era: number;
}

function replacedMeanwhile(): ApiError {
  return new ApiError('conflict', 'A reset or an import replaced all records in the meantime.');
}

function fieldsOf(index: number, { settings, records }: Pick<SeedParts, 'settings' | 'records'>): NewVideoFields {
  const pick = (list: readonly string[], what: string) =>
    list[Math.floor(seededFraction(settings.seed, [what, index]) * list.length)] ?? '';
  const channels = records.channels.list();
  const channelId = channels[index % Math.max(channels.length, 1)]?.id;
  if (channelId === undefined) throw new ApiError('conflict', 'The account has no channel for the videos.');
  const [topic, place] = [pick(TOPICS, 'topic'), pick(PLACES, 'place')];
  return {
    title: `${topic} ${index + 1}: ${place}`,
    description: `${topic} from ${place}. A sample of the sandbox.`,
    channelId,
    tags: ['sample', topic.toLowerCase()],
    sourceUrl: null,
  };
}

const TOPICS = ['News', 'Interview', 'Lecture', 'Weather', 'Sports', 'Portrait', 'Concert', 'Debate'];
const PLACES = ['the harbour', 'the old town', 'the stadium', 'the lab', 'the market', 'the mountains', 'the theatre'];
