/** The set of characters that one step of a glob matches. A character is a code point, so an emoji is one character. */
export interface CharSet {
  readonly ranges: readonly (readonly [first: number, last: number])[];
  /** True if the set matches everything *except* the ranges. */
  readonly negated: boolean;
  /** Whether the set matches `/`. This flag alone decides, so that a negated set never matches a slash by accident. */
  readonly slash: boolean;
}

export const SLASH = 0x2f;

/** Any character within one path segment. */
export const SEGMENT_CHARS: CharSet = { ranges: [], negated: true, slash: false };
/** Any character in a path. */
export const PATH_CHARS: CharSet = { ranges: [], negated: true, slash: true };

/** A set of exactly one character. */
export function single(codePoint: number): CharSet {
  return { ranges: [[codePoint, codePoint]], negated: false, slash: codePoint === SLASH };
}

/**
 * Converts a path to code points (a lone surrogate counts as one) in Unicode form NFC, like the globs. A folder name
 * from a Mac may contain `ü` as two characters, which looks the same as one.
 */
export function codePoints(path: string): number[] {
  const normal = path.normalize('NFC');
  const points: number[] = [];
  for (let i = 0; i < normal.length; i += 1) {
    const point = normal.codePointAt(i) ?? 0;
    if (point > 0xff_ff) i += 1;
    points.push(point);
  }
  return points;
}

/** Whether the set matches the character. */
export function takes(set: CharSet, codePoint: number): boolean {
  return codePoint === SLASH ? set.slash : inRanges(set.ranges, codePoint) !== set.negated;
}

function inRanges(ranges: CharSet['ranges'], codePoint: number): boolean {
  for (let i = 0; i < ranges.length; i += 1) {
    const range = ranges[i];
    if (range !== undefined && codePoint >= range[0] && codePoint <= range[1]) return true;
  }
  return false;
}

/** Lower-cases a character. Unchanged if its lower case is more than one character. */
export function lowerCase(codePoint: number): number {
  if (codePoint < 0x80) return codePoint >= 0x41 && codePoint <= 0x5a ? codePoint + 0x20 : codePoint;
  const lower = String.fromCodePoint(codePoint).toLowerCase();
  const point = lower.codePointAt(0) ?? codePoint;
  return lower.length === String.fromCodePoint(point).length ? point : codePoint;
}

/** Converts a set for matching lower-cased paths. */
export function lowerCaseSet(set: CharSet): CharSet {
  return { ...set, ranges: set.ranges.flatMap(lowerCaseRange) };
}

const SCRIPT_SIZE = 1000;

/** Lower-cases a range. Ranges larger than a script stay unchanged because they already contain both cases. */
function lowerCaseRange([first, last]: CharSet['ranges'][number]): CharSet['ranges'] {
  if (last - first > SCRIPT_SIZE) return [[first, last]];
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const point = lowerCase(first + i);
    return [point, point] as const;
  });
}
