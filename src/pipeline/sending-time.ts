/** How fast bytes are sent, and when they may be. Times are milliseconds from now. */
export interface Speed {
  /** Combined rate of all uploads, measured or configured; null if not known. */
  readonly bytesPerSecond: number | null;
  /** The limit configured for the present time; null for unlimited. */
  readonly bandwidth: number | null;
  readonly mayStart: boolean;
  /** Changes that the timetable makes to the limit and to `mayStart` within the next two days, earliest first. */
  readonly later: readonly UploadHours[];
}

/** Limits that the timetable sets from a given moment. */
export interface UploadHours {
  readonly inMs: number;
  readonly bandwidth: number | null;
  readonly mayStart: boolean;
}

/** Longest time that is estimated, because estimates beyond a year are useless. */
const mostMs = 365 * 86_400_000;

/**
 * Returns how long all uploads together take for this many bytes, through all changes of the timetable. The result
 * never assumes more than the measured speed, because the connection's capacity above its present limit is unknown.
 * Pure.
 *
 * @returns milliseconds; null if it is not known, or more than a year
 */
export function sendingMs(bytes: number, speed: Speed): number | null {
  const line = speed.bytesPerSecond ?? speed.bandwidth ?? 0;
  if (bytes > 0 && line <= 0) return null;
  let left = bytes;
  let passedMs = 0;
  for (const { forMs, bandwidth, mayStart } of spansOf(speed)) {
    const rate = Math.min(line, bandwidth ?? Infinity);
    const takesMs = left === 0 ? 0 : (left / rate) * 1_000;
    if (mayStart && takesMs <= forMs) return passedMs + takesMs <= mostMs ? passedMs + takesMs : null;
    if (mayStart) left -= (rate * forMs) / 1_000;
    passedMs += forMs;
  }
  return null;
}

/** Returns the same speed for uploads that have started, which continue even while the window is closed. Pure. */
export function begun<T extends Speed>(speed: T): T {
  return { ...speed, mayStart: true, later: speed.later.map((hours) => ({ ...hours, mayStart: true })) };
}

type Span = Omit<UploadHours, 'inMs'> & { readonly forMs: number };

const dayMs = 86_400_000;

/** Splits time into spans of constant limits. Later days repeat the second of the two known days. */
function* spansOf({ bandwidth, mayStart, later }: Speed): Generator<Span> {
  let last: UploadHours = { inMs: 0, bandwidth, mayStart };
  const lastDay = later.filter(({ inMs }) => inMs > dayMs);
  for (let after = 0; after < mostMs && (after === 0 || lastDay.length > 0); after += dayMs) {
    for (const next of after === 0 ? later : lastDay) {
      const inMs = next.inMs + after;
      yield { ...last, forMs: Math.max(0, inMs - last.inMs) };
      last = { ...next, inMs };
    }
  }
  yield { ...last, forMs: Infinity };
}
