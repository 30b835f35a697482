import { Clock } from '../../../packages/sandbox/src/clock.ts';
import { Events, type SandboxEvent } from '../../../packages/sandbox/src/events.ts';
import { openRecords, type Records } from '../../../packages/sandbox/src/store/records.ts';
import type { Play } from '../../../packages/sandbox/src/store/plays.ts';

/** Wednesday noon. */
export const NOON = Date.parse('2026-11-04T12:00:00Z');

/** Records in memory, with the channels `ch_a` and `ch_b`, a clock that stands still, and what was told to listeners. */
export function newAccount() {
  const records = openRecords(':memory:');
  for (const slug of ['a', 'b']) records.channels.add({ id: `ch_${slug}`, name: slug, slug, createdAtMs: 0 });
  const clock = new Clock(() => NOON);
  const events = new Events();
  const told: SandboxEvent[] = [];
  events.listen((event) => told.push(event));
  return { records, clock, events, told };
}

export interface VideoFacts {
  readonly channelId?: string;
  readonly durationS?: number | null;
  readonly sizeBytes?: number;
  readonly createdAtMs?: number;
}

/** Adds a ready video. */
export function addVideo(records: Records, id: string, facts: VideoFacts = {}): void {
  const { channelId = 'ch_a', durationS = 100, sizeBytes = 1000, createdAtMs = NOON } = facts;
  const title = `Title of ${id}`;
  records.videos.create({ title, description: null, channelId, tags: [], sourceUrl: null, createdAtMs }, () => id);
  const file = { videoId: id, sizeBytes, sha256: 'f'.repeat(64) };
  const media = { container: 'mp4', mediaType: 'video/mp4', fileExtension: 'mp4', width: 320, height: 180 } as const;
  const streams = { videoCodec: 'AVC', audioCodec: 'AAC', bitRate: 80, frameRate: 25 };
  const time = { nowMs: createdAtMs, dueAtMs: createdAtMs };
  records.processing.startProcessing(file, { isPlayable: true, ...media, ...streams, durationS }, time);
  records.processing.finishDue(createdAtMs);
}

let lastNumber = 0;

/** Adds a play of the video. */
export function addPlay(records: Records, videoId: string, facts: Partial<Play> = {}): void {
  lastNumber += 1;
  const play = { id: `play_${lastNumber}`, viewer: 'ann', source: 'embed', startedAtMs: NOON } as const;
  records.plays.add({ ...play, videoId, watchedS: 0, isComplete: false, ...facts });
}
