import { lowerCaseSet, PATH_CHARS, SEGMENT_CHARS, single, SLASH, takes, type CharSet } from './char-set.ts';
import type { Glob, GlobNode } from './glob.ts';

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
const ACCEPT = 0;
const NONE = -1;
const ACCEPTING: Step = { chars: null, slot: NONE, next: NONE, other: NONE };

/** Compiles a parsed glob. Repetition is lazy: `{show}-{part}` splits `a-b-c` at the first `-`. */
export function compileProgram({ nodes, captures }: Extract<Glob, { ok: true }>): GlobProgram {
  const builder = new ProgramBuilder(captures);
  const start = builder.sequence(nodes, ACCEPT);
  return { steps: builder.steps, start, captures };
}

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

/** Builds a program from end to start, so that each piece knows the step that follows it. */
class ProgramBuilder {
  readonly steps: Step[] = [ACCEPTING];
  readonly #captures: readonly string[];

  constructor(captures: readonly string[]) {
    this.#captures = captures;
  }

  sequence(nodes: readonly GlobNode[], next: number): number {
    return nodes.reduceRight((after, node) => this.#node(node, after), next);
  }

  #node(node: GlobNode, next: number): number {
    switch (node.kind) {
      case 'chars':
        return this.#take(node.set, next);
      case 'star':
        return this.#any(SEGMENT_CHARS, next);
      case 'rest':
        return this.#take(PATH_CHARS, this.#any(PATH_CHARS, next));
      case 'folders':
        return this.#fork(next, this.#any(PATH_CHARS, this.#take(single(SLASH), next)));
      case 'capture':
        return this.#capture(node.name, next);
      default:
        return node.options
          .map((option) => this.sequence(option, next))
          .reduceRight((rest, first) => this.#fork(first, rest));
    }
  }

  #capture(name: string, next: number): number {
    const slot = 2 * this.#captures.indexOf(name);
    const close = this.#add({ chars: null, slot: slot + 1, next, other: NONE });
    const text = this.#take(SEGMENT_CHARS, this.#any(SEGMENT_CHARS, close));
    return this.#add({ chars: null, slot, next: text, other: NONE });
  }

  /** Matches any number of characters from the set, as few as possible. */
  #any(set: CharSet, next: number): number {
    const fork = this.#fork(next, NONE);
    this.steps[fork] = { chars: null, slot: NONE, next, other: this.#take(set, fork) };
    return fork;
  }

  #take(chars: CharSet, next: number): number {
    return this.#add({ chars, slot: NONE, next, other: NONE });
  }

  #fork(first: number, second: number): number {
    return this.#add({ chars: null, slot: NONE, next: first, other: second });
  }

  #add(step: Step): number {
    return this.steps.push(step) - 1;
  }
}
