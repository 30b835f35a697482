import * as fc from 'fast-check';
import type { Rule } from '../../src/routing/plan.ts';
import { someRule } from '../support/folder-config.ts';

const PIECES = [
  'a',
  'b',
  'a.b',
  '*',
  'a*',
  '*b',
  '?',
  '??',
  '[ab]',
  '[^a]*',
  '{a,b}',
  '{a,b*}.a',
  '{a,}b',
  '*.{a,b}',
] as const;

/** Globs over a tiny alphabet, so that they often match the paths of `smallPath`. */
export const plainGlob = globOf(fc.constantFrom(...PIECES));

/** As `plainGlob`, with captures. */
export const ruleGlob = globOf(fc.constantFrom(...PIECES, '{x}', '{x}.a', 'a{x}b', '{x}.{y}')).filter(
  (glob) => (glob.match(/\{x\}/g) ?? []).length <= 1,
);

export const smallPath = fc
  .array(fc.string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 1, maxLength: 4 }), {
    minLength: 1,
    maxLength: 5,
  })
  .filter((parts) => !parts.some((part) => /^\.\.?$/.test(part)))
  .map((parts) => parts.join('/'));

const hostileChar = fc.oneof(
  fc.constantFrom(
    '/',
    '.',
    '..',
    '\\',
    '{',
    '}',
    '{title}',
    '{{',
    '[',
    ']',
    '*',
    '\n',
    '\r',
    '\0',
    '\u202E',
    "'",
    '"',
    '😀',
    '\uD800',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }),
);

/** Anything at all, with a taste for what hurts. */
export const hostileText = fc.array(hostileChar, { maxLength: 12 }).map((parts) => parts.join(''));

export const hostileTime = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(0, Number.NaN, 8.64e15, -8.64e15, 8.65e15),
);

export function rulesOf(globs: readonly string[]): Rule[] {
  return globs.map((match, i) => someRule({ key: `folders[0].rules[${i}]`, line: i + 1, match }));
}

function globOf(piece: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const segment = fc.oneof({ weight: 3, arbitrary: piece }, { weight: 1, arbitrary: fc.constant('**') });
  return fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'));
}
