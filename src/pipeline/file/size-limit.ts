import type { Facts } from './facts.ts';
import { tooLargeCode } from './failure.ts';
import type { Reason } from './reasons.ts';

export interface LearnedLimit {
  /** Largest size that is sent, in bytes. */
  readonly mostBytes: number;
  /** Whether the host named this limit. If not, it is one byte less than the refused file. */
  readonly isStated: boolean;
  /** Size of the refused file, in bytes. */
  readonly refusedBytes: number;
  /** Time of the last refusal (epoch milliseconds). */
  readonly at: number;
  /** Status and code of the host's answer, for people. */
  readonly said: string;
}

export interface SizeLimit {
  /** `uploads.max_size` in bytes; Infinity for none. */
  readonly maxSizeBytes: number;
  readonly learned: LearnedLimit | null;
}

/** Returns the largest size that is sent, in bytes; Infinity for any size. Pure. */
export function mostSentBytes({ maxSizeBytes, learned }: SizeLimit): number {
  return Math.min(maxSizeBytes, learned?.mostBytes ?? Infinity);
}

export const sizeLimitNote = 'size limit';

/** Longest answer that a note keeps, in UTF-16 units. */
const longestSaid = 100;

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
    const [own, most] = sizes(size, maxSizeBytes);
    const message = `it has ${own}, and uploads.max_size is ${most}: raise the limit and run \`dropcast reload\`, or replace the file with a smaller one`;
    return tooLarge({ from: 'setting', mostBytes: maxSizeBytes }, message);
  }
  const triedAt = lastFailure?.sizeLimit?.triedAt ?? 0;
  if (learned === null || size <= learned.mostBytes || triedAt > learned.at) return null;
  const { mostBytes, isStated, refusedBytes, at, said } = learned;
  const [own, other] = sizes(size, isStated ? mostBytes : refusedBytes);
  const limit = isStated ? `accepts at most ${other}` : `refused ${size === refusedBytes ? 'that' : other}`;
  const message = `it has ${own}, and the service ${limit} (${said}, ${new Date(at).toISOString().slice(0, 10)}): one such file is tried each day, this one now with \`dropcast retry\``;
  return tooLarge({ from: 'service', mostBytes }, message);
}

const tooLarge = (sizeLimit: NonNullable<Reason['sizeLimit']>, message: string): Reason => ({
  kind: 'permanent',
  code: tooLargeCode,
  message,
  sizeLimit,
});

/** Returns two sizes such as `5.37 GB`; in bytes if they would read the same. */
function sizes(one: number, other: number): readonly [string, string] {
  const [rounded, otherRounded] = [rough(one), rough(other)];
  return rounded === otherRounded && one !== other ? [exact(one), exact(other)] : [rounded, otherRounded];
}

function rough(bytes: number): string {
  const unit = units.find(({ factor }) => bytes >= factor);
  return unit === undefined ? exact(bytes) : `${Number((bytes / unit.factor).toPrecision(3))} ${unit.name}`;
}

function exact(bytes: number): string {
  return `${String(bytes).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')} bytes`;
}

const units = [
  { name: 'TB', factor: 1e12 },
  { name: 'GB', factor: 1e9 },
  { name: 'MB', factor: 1e6 },
] as const;
