import { codePoints, runProgram, SLASH, takes } from './glob-program.ts';
import type { CharSet, GlobProgram, Step } from './glob-program.ts';

export interface CompiledRule {
  readonly key: string;
  readonly match: string;
  readonly program: GlobProgram;
}

/**
 * Finds earlier rules that together match every path this glob matches, so that its rule can never win: one rule if one
 * is enough, otherwise as few as possible. Empty if the rule can win, or if that is uncertain.
 */
export function firstTakers(glob: GlobProgram, earlier: readonly CompiledRule[]): readonly CompiledRule[] {
  // One sample path settles nearly every pair of rules at a hundredth of the cost of the full check.
  const sample = samplePath(glob);
  const possible = earlier.filter(({ program }) => sample === null || runProgram(program, sample) !== null);
  if (possible.length === 0) return [];
  const alone = possible.find((rule) => takeAll([rule], glob));
  if (alone !== undefined) return [alone];
  if (!takeAll(earlier, glob)) return [];
  return earlier.reduce((needed, rule) => {
    const fewer = needed.filter((other) => other !== rule);
    return takeAll(fewer, glob) ? fewer : needed;
  }, earlier);
}

function takeAll(rules: readonly CompiledRule[], glob: GlobProgram): boolean {
  const programs = rules.map(({ program }) => program);
  return programs.length > 0 && covers(programs, glob);
}

/**
 * Builds a path that the glob matches, or returns null if the first candidate is not a path. Forks leave their loop
 * immediately.
 */
function samplePath({ steps, start }: GlobProgram): number[] | null {
  const path: number[] = [];
  for (let step = steps[start]; step !== undefined; step = steps[step.next]) {
    if (step.chars !== null) path.push(sampleChar(step.chars));
  }
  const text = String.fromCodePoint(...path);
  return text.includes('\0') || text.split('/').includes('') ? null : codePoints(text);
}

/** Picks a character from the set, or NUL, which no path contains. */
function sampleChar(set: CharSet): number {
  const candidates = [0x78, SLASH, ...set.ranges.flatMap(([first, last]) => [first, last + 1])];
  return candidates.find((char) => char <= 0x10_ff_ff && takes(set, char)) ?? 0;
}

/** Character tests before `covers` gives up, which takes a few milliseconds. Ordinary rules need a few thousand. */
const BUDGET = 50_000;

/**
 * Whether every relative path that `later` matches is also matched by one of `earlier`. True is certain; false means
 * no, or that the answer would take too long.
 *
 * The search follows every character that `later` could read next and tracks the set of steps the earlier globs could
 * be in (subset construction for regular language inclusion). A path that `later` accepts and no earlier glob accepts
 * is a counterexample. Without earlier globs, the result is whether `later` matches no path at all.
 */
export function covers(earlier: readonly GlobProgram[], later: GlobProgram): boolean {
  const ours = new Automaton([later]);
  const theirs = new Automaton(earlier);
  const characters = alphabet([...ours.steps, ...theirs.steps]);
  const seen = new Set<string>();
  const pending: WalkState[] = [];
  const add = (states: readonly number[], others: readonly number[], isSegmentStart: boolean): void => {
    for (const step of states) {
      const key = `${step}|${isSegmentStart}|${others.join()}`;
      if (!seen.has(key)) pending.push({ ours: step, theirs: others, isSegmentStart });
      seen.add(key);
    }
  };
  add(ours.starts, theirs.starts, true);
  let budget = BUDGET;
  // Depth first: a counterexample is nearly always at the end of the first branch.
  for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
    // A valid path is not empty, has no empty segments, and does not end with a slash.
    if (!state.isSegmentStart && ours.isEnd(state.ours) && !state.theirs.some((step) => theirs.isEnd(step)))
      return false;
    for (const char of characters) {
      budget -= 1 + state.theirs.length;
      if (budget < 0) return false;
      const isSlash = char === SLASH;
      if (isSlash && state.isSegmentStart) continue;
      add(ours.after([state.ours], char), theirs.after(state.theirs, char), isSlash);
    }
  }
  return true;
}

interface WalkState {
  readonly ours: number;
  readonly theirs: readonly number[];
  readonly isSegmentStart: boolean;
}

/**
 * Combines several programs into one automaton. Its states are the steps that match a character, and the accepting
 * steps.
 */
class Automaton {
  readonly steps: readonly Step[];
  readonly starts: readonly number[];

  constructor(programs: readonly GlobProgram[]) {
    const steps: Step[] = [];
    const starts: number[] = [];
    for (const program of programs) {
      const offset = steps.length;
      starts.push(program.start + offset);
      steps.push(...program.steps.map((step) => moved(step, offset)));
    }
    this.steps = steps;
    this.starts = this.#closure(starts);
  }

  isEnd(at: number): boolean {
    return this.steps[at]?.next === -1;
  }

  /** The states reached after one character. */
  after(states: readonly number[], char: number): number[] {
    const taken = states.map((at) => this.steps[at]).filter((step) => step?.chars && takes(step.chars, char));
    return this.#closure(taken.map((step) => step?.next ?? -1));
  }

  /** The states reachable without reading a character, sorted. */
  #closure(from: readonly number[]): number[] {
    const seen = new Set<number>();
    const pending = [...from];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      const step = this.steps[at];
      if (step === undefined || seen.has(at)) continue;
      seen.add(at);
      if (step.chars === null) pending.push(step.next, step.other);
    }
    return [...seen].filter((at) => this.steps[at]?.chars !== null || this.isEnd(at)).toSorted((a, b) => a - b);
  }
}

function moved(step: Step, offset: number): Step {
  const at = (index: number) => (index === -1 ? -1 : index + offset);
  return { ...step, next: at(step.next), other: at(step.other) };
}

/** Picks one character from each range that all sets treat alike. */
function alphabet(steps: readonly Step[]): number[] {
  const sets = new Set(steps.map((step) => step.chars).filter((chars): chars is CharSet => chars !== null));
  const borders = [...sets].flatMap((set) => set.ranges.flatMap(([first, last]) => [first, last + 1]));
  // File names cannot contain NUL, so the first range begins after it.
  const all = new Set([1, SLASH, SLASH + 1, ...borders]);
  return [...all].filter((char) => char >= 1 && char <= 0x10_ff_ff).toSorted((a, b) => a - b);
}
