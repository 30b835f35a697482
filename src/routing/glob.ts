import { SEGMENT_CHARS, single, type CharSet } from './char-set.ts';

/** A piece of a parsed glob. */
export type GlobNode =
  | { readonly kind: 'chars'; readonly set: CharSet }
  /** `*`: zero or more characters within one segment. */
  | { readonly kind: 'star' }
  /** A whole `**` segment with its slash: zero or more folders. */
  | { readonly kind: 'folders' }
  /** `**` at the end: everything below, at least one segment. */
  | { readonly kind: 'rest' }
  /** `{name}`: one or more characters within one segment. */
  | { readonly kind: 'capture'; readonly name: string }
  /** `{a,b}`: one of several alternatives. */
  | { readonly kind: 'choice'; readonly options: readonly (readonly GlobNode[])[] };

export type Glob =
  | {
      readonly ok: true;
      readonly nodes: readonly GlobNode[];
      /** Capture names in order of appearance. */
      readonly captures: readonly string[];
      /** The text between slashes, not counting slashes inside braces. */
      readonly segments: readonly string[];
    }
  | { readonly ok: false; readonly why: string };

/** Maximum glob length in characters. A longer glob is a mistake, and match cost is (glob length) × (path length). */
const MAX_LENGTH = 1000;
const CAPTURE = /^\{([A-Za-z][A-Za-z0-9_]*)\}/;

/**
 * Parses a glob: `*`, `**` (a whole segment), `?`, `[abc]`, `[!a-z]`, `{a,b}` and `{capture}`. All other characters are
 * literal. There is no escape character; brackets quote a special character: `[*]`.
 *
 * An invalid glob returns `why`, a sentence fragment that states the mistake and what to write instead.
 */
export function parseGlob(glob: string): Glob {
  if (glob === '') return { ok: false, why: 'the pattern is empty' };
  if (glob.length > MAX_LENGTH) return { ok: false, why: `the pattern is longer than ${MAX_LENGTH} characters` };
  const parser = new GlobParser(glob.normalize('NFC'));
  try {
    const nodes = parser.parse();
    return { ok: true, nodes, captures: parser.captures, segments: parser.segments };
  } catch (error) {
    if (error instanceof GlobSyntaxError) return { ok: false, why: error.message };
    throw error;
  }
}

/** Thrown at the first mistake. Never leaves the parser. */
class GlobSyntaxError extends Error {
  override readonly name = 'GlobSyntaxError' as const;
}

class GlobParser {
  readonly captures: string[] = [];
  readonly segments: string[] = [];
  readonly #chars: readonly string[];
  #at = 0;
  #segmentStart = 0;

  constructor(glob: string) {
    this.#chars = Array.from(glob);
  }

  parse(): GlobNode[] {
    const nodes = this.#sequence(0);
    this.#closeSegment(this.#at);
    return nodes;
  }

  /** Parses a sequence. `depth` counts open braces; inside braces the sequence stops before `,` and `}`. */
  #sequence(depth: number): GlobNode[] {
    const nodes: GlobNode[] = [];
    for (let char = this.#peek(); char !== undefined; char = this.#peek()) {
      if (depth > 0 && (char === ',' || char === '}')) break;
      nodes.push(this.#node(char, depth));
    }
    return nodes;
  }

  #node(char: string, depth: number): GlobNode {
    if (char === '*') return this.#stars(depth);
    if (char === '[') return this.#class();
    if (char === '{') return this.#braces(depth);
    if (char === '}') throw new GlobSyntaxError('"}" without "{"; write "[}]" for the character itself');
    if (char === ']') throw new GlobSyntaxError('"]" without "["; write "[]]" for the character itself');
    this.#at += 1;
    if (char === '?') return { kind: 'chars', set: SEGMENT_CHARS };
    if (char === '/' && depth === 0) this.#closeSegment(this.#at - 1);
    return { kind: 'chars', set: single(codePoint(char)) };
  }

  #stars(depth: number): GlobNode {
    const start = this.#at;
    while (this.#peek() === '*') this.#at += 1;
    if (this.#at - start === 1) return { kind: 'star' };
    const next = this.#peek();
    const isWholeSegment = start === this.#segmentStart && (next === '/' || next === undefined);
    if (depth > 0) throw new GlobSyntaxError('"**" is not allowed inside { }; write one pattern per alternative');
    if (this.#at - start > 2 || !isWholeSegment) {
      throw new GlobSyntaxError('"**" must be alone between slashes, as in "**/*.mp4"');
    }
    if (next === undefined) return { kind: 'rest' };
    this.#at += 1;
    this.#closeSegment(this.#at - 1);
    return { kind: 'folders' };
  }

  #class(): GlobNode {
    const { set, end } = readClass(this.#chars, this.#at + 1);
    this.#at = end;
    return { kind: 'chars', set };
  }

  #braces(depth: number): GlobNode {
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
    if (options.length > 1) return { kind: 'choice', options };
    throw new GlobSyntaxError(
      '"{ }" must contain a capture like {show} (letters, digits and _) or alternatives like {mp4,mov}',
    );
  }

  #capture(name: string, depth: number): GlobNode {
    if (depth > 0) {
      throw new GlobSyntaxError(
        `the capture {${name}} is not allowed inside alternatives; write one rule per alternative`,
      );
    }
    if (this.captures.includes(name)) {
      throw new GlobSyntaxError(`the capture {${name}} occurs twice; rename one of them`);
    }
    this.captures.push(name);
    this.#at += name.length + 2;
    return { kind: 'capture', name };
  }

  #peek(): string | undefined {
    return this.#chars[this.#at];
  }

  #closeSegment(end: number): void {
    this.segments.push(this.#chars.slice(this.#segmentStart, end).join(''));
    this.#segmentStart = end + 1;
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
