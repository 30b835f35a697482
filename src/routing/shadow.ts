import { codePoints, SLASH, takes, type CharSet } from './char-set.ts';
import { covers } from './covers.ts';
import { runProgram, type GlobProgram } from './glob-program.ts';

export interface CompiledRule {
  readonly key: string;
  readonly match: string;
  readonly program: GlobProgram;
}

/**
 * The earlier rules that take every path this glob matches, so that its rule can never win: one of them if one is enough, else
 * no more than are needed. Empty when the rule can win, or when that is not certain.
 */
export function firstTakers(glob: GlobProgram, earlier: readonly CompiledRule[]): readonly CompiledRule[] {
  // One path answers nearly every pair of rules, at a hundredth of the cost of the whole question.
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

/** A path that the glob matches, or null if the first one that is tried is none. Forks leave their loop first. */
function samplePath({ steps, start }: GlobProgram): number[] | null {
  const path: number[] = [];
  for (let step = steps[start]; step !== undefined; step = steps[step.next]) {
    if (step.chars !== null) path.push(sampleChar(step.chars));
  }
  const text = String.fromCodePoint(...path);
  return text.includes('\0') || text.split('/').includes('') ? null : codePoints(text);
}

/** A character of the set, or NUL, which no path holds. */
function sampleChar(set: CharSet): number {
  const candidates = [0x78, SLASH, ...set.ranges.flatMap(([first, last]) => [first, last + 1])];
  return candidates.find((char) => char <= 0x10_ff_ff && takes(set, char)) ?? 0;
}
