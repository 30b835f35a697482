/**
 * A glob compiled to a small state machine that runs over a path. A regular expression made from `*a*a*a*b` would take
 * (path length)^4 steps on a hostile name; this machine visits every (step, position) pair at most once.
 */
export interface GlobProgram {
  readonly steps: readonly Step[];
  readonly start: number;
  /** Capture names. Capture `i` saves its start and end in slots `2i` and `2i + 1`. */
  readonly captures: readonly string[];
}

/**
 * One step: matches a character (`chars`), saves the position (`slot`), forks (`other` is tried second), or accepts.
 */
export interface Step {
  readonly chars: CharSet | null;
  readonly slot: number;
  readonly next: number;
  readonly other: number;
}

/** Index of the step that accepts the path. */
export const ACCEPT = 0;
export const NONE = -1;
export const ACCEPTING: Step = { chars: null, slot: NONE, next: NONE, other: NONE };

/** The same program for matching lower-cased paths. */
export function lowerCaseProgram(program: GlobProgram): GlobProgram {
  const steps = program.steps.map((step) =>
    step.chars === null ? step : { ...step, chars: lowerCaseSet(step.chars) },
  );
  return { ...program, steps };
}

/**
 * Runs the program over a whole path, given as code points. Returns the text of each capture, or null if the path does
 * not match. Uses at most (program steps) × (path length) time and memory.
 */
export function runProgram(program: GlobProgram, path: readonly number[]): string[] | null {
  const slots = findSlots(program, path);
  if (slots === null) return null;
  return program.captures.map((_, i) =>
    path
      .slice(slots[2 * i], slots[2 * i + 1])
      .map((char) => String.fromCodePoint(char))
      .join(''),
  );
}

/** Depth-first search that remembers failures: a second visit to the same (step, position) would fail too. */
function findSlots(program: GlobProgram, text: readonly number[]): readonly number[] | null {
  const visited = new Uint8Array(program.steps.length * (text.length + 1));
  const slots: number[] = Array.from({ length: 2 * program.captures.length }, () => 0);
  // Pairs (step, position) still to try. A successful attempt overwrites the slots that failed ones set, because
  // captures are never inside a loop or an alternative and every path to the end passes all of them.
  const pending = [program.start, 0];
  while (pending.length > 0) {
    let position = pending.pop() ?? 0;
    let at = pending.pop() ?? 0;
    for (;;) {
      const mark = at * (text.length + 1) + position;
      if (visited[mark] === 1) break;
      visited[mark] = 1;
      if (at === ACCEPT) {
        if (position === text.length) return slots;
        break;
      }
      const step = program.steps[at] ?? ACCEPTING;
      if (step.chars !== null) {
        const char = text[position];
        if (char === undefined || !takes(step.chars, char)) break;
        position += 1;
      } else if (step.slot !== NONE) {
        slots[step.slot] = position;
      } else {
        pending.push(step.other, position);
      }
      at = step.next;
    }
  }
  return null;
}

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
export const PATH_CHARS: CharSet = { ranges: [], negated: true, slash: true };

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
