/** How fast bytes leave, and when they may. Times are milliseconds from now. */
export interface Speed {
  /** Rate of all uploads together, measured or as configured; null means not known. */
  readonly bytesPerSecond: number | null;
  /** The configured limit at present; null means unlimited. */
  readonly bandwidth: number | null;
  /** Whether uploads may start at present. */
  readonly mayStart: boolean;
  /** Changes of both by the timetable within two days, earliest first. */
  readonly later: readonly UploadHours[];
}

/** Limits that the timetable sets from a moment on. */
export interface UploadHours {
  readonly inMs: number;
  readonly bandwidth: number | null;
  readonly mayStart: boolean;
}

/** Estimates beyond a year are useless. */
const mostMs = 365 * 86_400_000;

/**
 * Pure: how long all uploads together take for this many bytes, through all changes of the timetable. The result never
 * assumes more than the measured speed, because the line's capacity beyond its present limit is not known.
 *
 * @returns milliseconds; null when it is not known, or takes more than a year
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

/** Pure: the same speed for uploads that have begun, which continue while the window is closed. */
export function begun<T extends Speed>(speed: T): T {
  return { ...speed, mayStart: true, later: speed.later.map((hours) => ({ ...hours, mayStart: true })) };
}

type Span = Omit<UploadHours, 'inMs'> & { readonly forMs: number };

const dayMs = 86_400_000;

/** Later days repeat the second of the two known days. */
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
