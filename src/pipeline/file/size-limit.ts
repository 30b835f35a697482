import type { Facts } from './facts.ts';
import { tooLargeCode, triedAgainCode } from './failure.ts';
import type { Reason } from './reasons.ts';

/** A limit that an upload host's refusal taught. */
export interface LearnedLimit {
  /** Largest size that is sent, in bytes. */
  readonly mostBytes: number;
  /** Whether the host named this limit. If not, it is one byte less than the refused file. */
  readonly isStated: boolean;
  /** Size of the refused file, in bytes. */
  readonly refusedBytes: number;
  /** Time of the last refusal (epoch milliseconds). */
  readonly at: number;
  /** The host's answer, for people. */
  readonly said: string;
}

/** The limits that apply now. */
export interface SizeLimit {
  /** `uploads.max_size` in bytes; Infinity for none. */
  readonly maxSizeBytes: number;
  readonly learned: LearnedLimit | null;
}

/** Returns the largest size that is sent, in bytes; Infinity for any size. Pure. */
export function mostSentBytes({ maxSizeBytes, learned }: SizeLimit): number {
  return Math.min(maxSizeBytes, learned?.mostBytes ?? Infinity);
}

/** Name of the note that holds the learned limit. */
export const sizeLimitNote = 'size limit';

/** Longest answer that a note keeps, in UTF-16 units. */
const longestSaid = 500;

/** Reads the note with the learned limit. @returns null if there is none, or the record is damaged */
export function learnedLimitOf(note: unknown): LearnedLimit | null {
  if (typeof note !== 'object' || note === null) return null;
  const { mostBytes, isStated, refusedBytes, at, said } = note as Record<string, unknown>;
  if (!isSize(mostBytes) || !isSize(refusedBytes) || !isSize(at) || typeof said !== 'string') return null;
  return { mostBytes, isStated: isStated === true, refusedBytes, at, said: said.slice(0, longestSaid) };
}

function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/**
 * Returns why a file without a record is too large to be sent; null if it is not. An import sends no bytes. A file that
 * the operator or the daily test lets through is tried once, until the next refusal. Pure.
 */
export function whyTooLarge(
  { version: { size }, sourceUrl, videoId, lastFailure }: Facts,
  { maxSizeBytes, learned }: SizeLimit,
): Reason | null {
  if (sourceUrl !== null || videoId !== null) return null;
  if (size > maxSizeBytes) {
    const message = `it has ${sized(size)}, and uploads.max_size is ${sized(maxSizeBytes)}: raise the limit and run \`dropcast reload\`, or replace the file with a smaller one`;
    return tooLarge({ from: 'setting', mostBytes: maxSizeBytes }, message);
  }
  const triedAt = lastFailure?.code === triedAgainCode ? (lastFailure.sizeLimit?.triedAt ?? 0) : 0;
  if (learned === null || size <= learned.mostBytes || triedAt > learned.at) return null;
  const { mostBytes, isStated, refusedBytes, at, said } = learned;
  const limit = isStated ? `accepts at most ${sized(mostBytes)}` : `refused a file of ${sized(refusedBytes)}`;
  const message = `it has ${sized(size)}, and the service ${limit} (on ${new Date(at).toISOString().slice(0, 10)}: ${said}); dropcast tries one such file a day, and \`dropcast retry\` tries this one now`;
  return tooLarge({ from: 'service', mostBytes }, message);
}

const tooLarge = (sizeLimit: NonNullable<Reason['sizeLimit']>, message: string): Reason => ({
  kind: 'permanent',
  code: tooLargeCode,
  message,
  sizeLimit,
});

/** `5.37 GB (5,368,709,120 bytes)`: two sizes that round to the same figure still differ. */
function sized(bytes: number): string {
  const exact = `${String(bytes).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')} bytes`;
  const unit = units.find(({ factor }) => bytes >= factor);
  return unit === undefined ? exact : `${Number((bytes / unit.factor).toPrecision(3))} ${unit.name} (${exact})`;
}

const units = [
  { name: 'TB', factor: 1e12 },
  { name: 'GB', factor: 1e9 },
  { name: 'MB', factor: 1e6 },
] as const;
