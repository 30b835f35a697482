import type { Facts } from '../file/facts.ts';
import type { Clock } from '../file/ports.ts';

export interface LiveUpload {
  readonly id: string;
  readonly sentBytes: number;
  readonly sizeBytes: number;
  /** Milliseconds since the last byte was sent. */
  readonly idleMs: number;
  /** Upload speed; null until measured. */
  readonly bytesPerSecond: number | null;
  /** The host that is sending the file; absent for this host. */
  readonly host?: string;
}

export type Uploads = ReturnType<typeof createUploads>;

/** Tracks the progress of running uploads. Kept in memory only, because uploads start again after a restart. */
export function createUploads(clock: Clock) {
  const live = new Map<string, Running>();
  let sent = 0;
  const bytes = createSendRate(clock, spanMs);
  const files = createSendRate(clock, 60_000);
  return {
    progressed: ({ id, version }: Pick<Facts, 'id' | 'version'>, sentBytes: number): void => {
      const before = live.get(id);
      for (const rate of [bytes, files]) rate.began();
      const isGoingOn = before !== undefined && before.sentBytes <= sentBytes;
      const upload = isGoingOn ? before : begun(id, version.size, clock);
      const more = sentBytes - upload.sentBytes;
      sent += more;
      for (const rate of [bytes, upload.rate]) rate.add(more);
      live.set(id, { ...upload, sentBytes, movedAt: more > 0 ? clock.elapsed() : upload.movedAt });
    },
    /** Records that an upload continues after these bytes, which are not sent again. */
    resumed: ({ id, version }: Pick<Facts, 'id' | 'version'>, offset: number): void => {
      live.set(id, { ...begun(id, version.size, clock), sentBytes: offset });
    },
    ended: (id: string): void => {
      if (live.delete(id)) files.add(1);
      if (live.size === 0) for (const rate of [bytes, files]) rate.paused();
    },
    list: (): readonly LiveUpload[] =>
      Array.from(live.values(), ({ rate, movedAt, ...upload }) => ({
        ...upload,
        idleMs: clock.elapsed() - movedAt,
        bytesPerSecond: rate.perSecond(),
      })),
    /** Total bytes sent since the start, including those of aborted uploads. */
    sentBytes: (): number => sent,
    /** Combined rate of all uploads while any is in progress; null until measured. */
    bytesPerSecond: bytes.perSecond,
    /** Number of uploads that finish per hour at the present speed; null until measured. */
    filesPerHour: (): number | null => {
      const perSecond = files.perSecond();
      return perSecond === null ? null : perSecond * 3_600;
    },
  };
}

/** Returns the uploads of this process. A shutdown waits for no others. */
export function uploadsHere({ conductor }: UploadsShown): readonly LiveUpload[] {
  return conductor.uploads().filter(({ host }) => host === undefined);
}

interface UploadsShown {
  readonly conductor: { uploads(): readonly LiveUpload[] };
}

interface Running extends Omit<LiveUpload, 'bytesPerSecond' | 'idleMs'> {
  readonly rate: SendRate;
  /** When the last byte was sent, or when the upload started; monotonic clock. */
  readonly movedAt: number;
}

const spanMs = 5_000;

function begun(id: string, sizeBytes: number, clock: Clock): Running {
  const at = clock.elapsed();
  const rate = createSendRate(clock, spanMs);
  rate.began();
  return { id, sentBytes: 0, sizeBytes, movedAt: at, rate };
}

/** Smallest fraction of a span for which a rate is reported. */
const leastShare = 0.1;

/** Weight of the newest span, chosen so that a change becomes visible within a few spans. */
const newest = 0.4;

type SendRate = ReturnType<typeof createSendRate>;

/** @param spanMs shortest meaningful period, because bytes and files arrive in bursts */
function createSendRate(clock: Clock, spanMs: number) {
  let amount = 0;
  let activeMs = 0;
  let since: number | null = null;
  let rate: number | null = null;

  const passed = (): number => {
    const now = clock.elapsed();
    if (since !== null) {
      activeMs += now - since;
      since = now;
    }
    return activeMs;
  };

  const measured = (): number => (1_000 * amount) / activeMs;

  const close = (): void => {
    if (passed() < spanMs) return;
    // Several spans may have passed since the last call.
    const older = (1 - newest) ** Math.floor(activeMs / spanMs);
    rate = rate === null ? measured() : older * rate + (1 - older) * measured();
    amount = 0;
    activeMs = 0;
  };

  return {
    began: (): void => {
      since ??= clock.elapsed();
    },
    add: (more: number): void => {
      amount += more;
      close();
    },
    paused: (): void => {
      close();
      since = null;
    },
    /** Rate per second; null until measured. */
    perSecond: (): number | null => {
      close();
      return rate ?? (passed() >= leastShare * spanMs && amount > 0 ? measured() : null);
    },
  };
}
