import { ACCEPT, ACCEPTING, NONE, PATH_CHARS, SEGMENT_CHARS, SLASH, single } from './glob-program.ts';
import type { CharSet, GlobProgram, Step } from './glob-program.ts';

export type Glob =
  | {
      readonly ok: true;
      readonly program: GlobProgram;
      /** The text between slashes, not counting slashes inside braces. */
      readonly segments: readonly string[];
    }
  | { readonly ok: false; readonly why: string };

/** Maximum glob length in characters. A longer glob is a mistake, and match cost is (glob length) × (path length). */
const MAX_LENGTH = 1000;
const CAPTURE = /^\{([A-Za-z][A-Za-z0-9_]*)\}/;

/**
 * Compiles a glob: `*`, `**` (a whole segment), `?`, `[abc]`, `[!a-z]`, `{a,b}` and `{capture}`. All other characters are
 * literal. There is no escape character; brackets quote a special character: `[*]`.
 *
 * Repetition is lazy: `{show}-{part}` splits `a-b-c` at the first `-`. An invalid glob returns `why`, a sentence fragment that states the mistake and what to write instead.
 */
export function parseGlob(glob: string): Glob {
  if (glob === '') return { ok: false, why: 'the pattern is empty' };
  if (glob.length > MAX_LENGTH) return { ok: false, why: `the pattern is longer than ${MAX_LENGTH} characters` };
  const parser = new GlobParser(glob.normalize('NFC'));
  try {
    return { ok: true, program: parser.parse(), segments: parser.segments };
  } catch (error) {
    if (error instanceof GlobSyntaxError) return { ok: false, why: error.message };
    throw error;
  }
}

/** Thrown at the first mistake. Never leaves the parser. */
class GlobSyntaxError extends Error {
  override readonly name = 'GlobSyntaxError' as const;
}

/** Adds the steps of a piece of the glob in front of the step `next`, and returns the first of them. */
type Piece = (next: number) => number;

class GlobParser {
  readonly segments: string[] = [];
  readonly #captures: string[] = [];
  readonly #steps: Step[] = [ACCEPTING];
  readonly #chars: readonly string[];
  #at = 0;
  #segmentStart = 0;

  constructor(glob: string) {
    this.#chars = Array.from(glob);
  }

  parse(): GlobProgram {
    const whole = this.#sequence(0);
    this.#closeSegment(this.#at);
    return { start: whole(ACCEPT), steps: this.#steps, captures: this.#captures };
  }

  /** Parses a sequence. `depth` counts open braces; inside braces the sequence stops before `,` and `}`. */
  #sequence(depth: number): Piece {
    const pieces: Piece[] = [];
    for (let char = this.#peek(); char !== undefined; char = this.#peek()) {
      if (depth > 0 && (char === ',' || char === '}')) break;
      pieces.push(this.#piece(char, depth));
    }
    return (next) => pieces.reduceRight((after, piece) => piece(after), next);
  }

  #piece(char: string, depth: number): Piece {
    if (char === '*') return this.#stars(depth);
    if (char === '[') return this.#class();
    if (char === '{') return this.#braces(depth);
    if (char === '}') throw new GlobSyntaxError('"}" without "{"; write "[}]" for the character itself');
    if (char === ']') throw new GlobSyntaxError('"]" without "["; write "[]]" for the character itself');
    this.#at += 1;
    if (char === '/' && depth === 0) this.#closeSegment(this.#at - 1);
    return (next) => this.#take(char === '?' ? SEGMENT_CHARS : single(codePoint(char)), next);
  }

  /** Parses `*`; `**` as a whole segment with its slash (any folders); or `**` at the end (everything below). */
  #stars(depth: number): Piece {
    const start = this.#at;
    while (this.#peek() === '*') this.#at += 1;
    if (this.#at - start === 1) return (next) => this.#any(SEGMENT_CHARS, next);
    const next = this.#peek();
    const isWholeSegment = start === this.#segmentStart && (next === '/' || next === undefined);
    if (depth > 0) throw new GlobSyntaxError('"**" is not allowed inside { }; write one pattern per alternative');
    if (this.#at - start > 2 || !isWholeSegment) {
      throw new GlobSyntaxError('"**" must be alone between slashes, as in "**/*.mp4"');
    }
    if (next === undefined) return (end) => this.#take(PATH_CHARS, this.#any(PATH_CHARS, end));
    this.#at += 1;
    this.#closeSegment(this.#at - 1);
    return (after) => this.#fork(after, this.#any(PATH_CHARS, this.#take(single(SLASH), after)));
  }

  #class(): Piece {
    const { set, end } = readClass(this.#chars, this.#at + 1);
    this.#at = end;
    return (next) => this.#take(set, next);
  }

  #braces(depth: number): Piece {
    const name = CAPTURE.exec(this.#chars.slice(this.#at).join(''))?.[1];
    if (name !== undefined) return this.#capture(name, depth);
    this.#at += 1;
    const options = [this.#sequence(depth + 1)];
    while (this.#peek() === ',') {
      this.#at += 1;
      options.push(this.#sequence(depth + 1));
    }
    if (this.#peek() === undefined)
      throw new GlobSyntaxError('"{" is never closed; write "[{]" for the character itself');
    this.#at += 1;
    if (options.length === 1)
      throw new GlobSyntaxError(
        '"{ }" must contain a capture like {show} (letters, digits and _) or alternatives like {mp4,mov}',
      );
    return (next) => options.map((option) => option(next)).reduceRight((others, option) => this.#fork(option, others));
  }

  #capture(name: string, depth: number): Piece {
    if (depth > 0) {
      throw new GlobSyntaxError(
        `the capture {${name}} is not allowed inside alternatives; write one rule per alternative`,
      );
    }
    if (this.#captures.includes(name)) {
      throw new GlobSyntaxError(`the capture {${name}} occurs twice; rename one of them`);
    }
    const slot = 2 * this.#captures.length;
    this.#captures.push(name);
    this.#at += name.length + 2;
    return (next) => {
      const close = this.#add({ chars: null, slot: slot + 1, next, other: NONE });
      const text = this.#take(SEGMENT_CHARS, this.#any(SEGMENT_CHARS, close));
      return this.#add({ chars: null, slot, next: text, other: NONE });
    };
  }

  #peek(): string | undefined {
    return this.#chars[this.#at];
  }

  #closeSegment(end: number): void {
    this.segments.push(this.#chars.slice(this.#segmentStart, end).join(''));
    this.#segmentStart = end + 1;
  }

  /** Matches any number of characters from the set, as few as possible. */
  #any(set: CharSet, next: number): number {
    const fork = this.#fork(next, NONE);
    this.#steps[fork] = { chars: null, slot: NONE, next, other: this.#take(set, fork) };
    return fork;
  }

  #take(chars: CharSet, next: number): number {
    return this.#add({ chars, slot: NONE, next, other: NONE });
  }

  #fork(first: number, second: number): number {
    return this.#add({ chars: null, slot: NONE, next: first, other: second });
  }

  #add(step: Step): number {
    return this.#steps.push(step) - 1;
  }
}

/**
 * Reads a class such as `[!a-z]`, from the character after `[` to the one after `]`. A `]` in first place is literal.
 */
function readClass(chars: readonly string[], start: number): { readonly set: CharSet; readonly end: number } {
  const negated = chars[start] === '!' || chars[start] === '^';
  const ranges: [number, number][] = [];
  let at = negated ? start + 1 : start;
  while (chars[at] !== ']' || ranges.length === 0) {
    const [first, last] = readRange(chars.slice(at, at + 3));
    ranges.push([codePoint(first), codePoint(last ?? first)]);
    at += last === undefined ? 1 : 3;
  }
  return { set: { ranges, negated, slash: false }, end: at + 1 };
}

/** Reads one character, or both ends of a range such as `a-z`. */
function readRange([first, dash, last]: readonly string[]): readonly [first: string, last?: string] {
  if (first === undefined) throw new GlobSyntaxError('"[" is never closed; write "[[]" for the character itself');
  if (first === '/') throw new GlobSyntaxError('"/" is not allowed inside [ ]');
  if (first === '[' && dash === ':')
    throw new GlobSyntaxError('classes such as [:alpha:] do not exist here; write [a-z]');
  if (dash !== '-' || last === undefined || last === ']') return [first];
  if (last === '/' || codePoint(last) < codePoint(first))
    throw new GlobSyntaxError(`the range "${first}-${last}" is backwards; swap its ends`);
  return [first, last];
}

function codePoint(char: string): number {
  return char.codePointAt(0) ?? 0;
}
