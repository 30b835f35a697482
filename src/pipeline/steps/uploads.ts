import type { Facts } from '../file/facts.ts';
import type { Clock } from '../file/ports.ts';
import { createSendRate } from './send-rate.ts';
import type { SendRate } from './send-rate.ts';

/** An upload under way. */
export interface LiveUpload {
  readonly id: string;
  readonly sentBytes: number;
  readonly sizeBytes: number;
  /** How long no byte has left. */
  readonly idleMs: number;
  /** Null until it was measured. */
  readonly bytesPerSecond: number | null;
  /** The host that sends it; absent: this one. */
  readonly host?: string;
}

/** How far the uploads under way are. In memory: after a restart they begin again. */
export interface Uploads {
  progressed(facts: Pick<Facts, 'id' | 'version'>, sentBytes: number): void;
  ended(id: string): void;
  list(): readonly LiveUpload[];
  /** Bytes that left, also of uploads that broke off, since the start. */
  sentBytes(): number;
  /** Of all together, while any is under way; null until it was measured. */
  bytesPerSecond(): number | null;
  /** Uploads that end in an hour at the present speed; null until it was measured. */
  filesPerHour(): number | null;
}

export function createUploads(clock: Clock): Uploads {
  const live = new Map<string, Running>();
  let sent = 0;
  const bytes = createSendRate(clock, spanMs);
  const files = createSendRate(clock, 60_000);
  return {
    progressed: ({ id, version }, sentBytes) => {
      const before = live.get(id);
      for (const rate of [bytes, files]) rate.began();
      const isGoingOn = before !== undefined && before.sentBytes <= sentBytes;
      const upload = isGoingOn ? before : begun(id, version.size, clock);
      const more = sentBytes - upload.sentBytes;
      sent += more;
      for (const rate of [bytes, upload.rate]) rate.add(more);
      live.set(id, { ...upload, sentBytes, movedAt: more > 0 ? clock.elapsed() : upload.movedAt });
    },
    ended: (id) => {
      if (live.delete(id)) files.add(1);
      if (live.size === 0) for (const rate of [bytes, files]) rate.paused();
    },
    list: () =>
      Array.from(live.values(), ({ rate, movedAt, ...upload }) => ({
        ...upload,
        idleMs: clock.elapsed() - movedAt,
        bytesPerSecond: rate.perSecond(),
      })),
    sentBytes: () => sent,
    bytesPerSecond: bytes.perSecond,
    filesPerHour: () => {
      const perSecond = files.perSecond();
      return perSecond === null ? null : perSecond * 3_600;
    },
  };
}

/** Uploads that run in this process: a stop waits for no others. */
export function uploadsHere({ conductor }: UploadsShown): readonly LiveUpload[] {
  return conductor.uploads().filter(({ host }) => host === undefined);
}

interface UploadsShown {
  readonly conductor: { uploads(): readonly LiveUpload[] };
}

interface Running extends Omit<LiveUpload, 'bytesPerSecond' | 'idleMs'> {
  readonly rate: SendRate;
  /** When bytes left last, or when it began: by the monotonic clock. */
  readonly movedAt: number;
}

/** Speeds are those of the last seconds. */
const spanMs = 5_000;

function begun(id: string, sizeBytes: number, clock: Clock): Running {
  const at = clock.elapsed();
  const rate = createSendRate(clock, spanMs);
  rate.began();
  return { id, sentBytes: 0, sizeBytes, movedAt: at, rate };
}
