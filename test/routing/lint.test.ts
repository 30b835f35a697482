import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lintGlob, lintMoveTemplate, lintRules } from '../../src/routing/lint.ts';
import { compileMatch } from '../../src/routing/match.ts';
import { route } from '../../src/routing/route.ts';
import { hostileText, ruleGlob, rulesOf, smallPath } from './generators.ts';

const matching = (...globs: string[]) => globs.map((match, i) => ({ key: `rules[${i}]`, match }));
const lines = (findings: ReturnType<typeof lintRules>) =>
  findings.map(({ key, severity, message }) => `${severity} ${key}: ${message}`);
const shadowed = (...globs: string[]) =>
  lintRules(matching(...globs)).flatMap(({ key, message }) => (message.startsWith('can never') ? [key] : []));

describe('a pattern that is wrong', () => {
  test.each([
    ['', 'the pattern is empty'],
    ['a{b,c', '"{" is never closed; for the character itself write "[{]"'],
    ['a}', '"}" has no "{"; for the character itself write "[}]"'],
    ['[a', '"[" is never closed; for the character itself write "[[]"'],
    ['[]', '"[" is never closed; for the character itself write "[[]"'],
    ['a]', '"]" has no "["; for the character itself write "[]]"'],
    ['[z-a]', 'the range "z-a" is the wrong way round'],
    ['[a/b]', '"/" cannot stand inside [ ]'],
    ['[[:alpha:]]', 'classes such as [:alpha:] are not known; write [a-z]'],
    ['{a b}', '"{ }" holds neither a capture, as in {show} (letters, digits and _), nor alternatives, as in {mp4,mov}'],
    ['{}', '"{ }" holds neither a capture, as in {show} (letters, digits and _), nor alternatives, as in {mp4,mov}'],
    ['**.mp4', '"**" must stand alone between slashes, as in "**/*.mp4"'],
    ['***', '"**" must stand alone between slashes, as in "**/*.mp4"'],
    ['{a/**,b}', '"**" cannot stand inside { }: write one pattern for each alternative'],
    ['/srv/a', 'it starts with "/", but paths are relative to the folder'],
    ['a/', 'it ends with "/", but only files are matched; for all that is inside add "**"'],
    ['a//b', 'it has an empty part between two slashes'],
    ['../a', '".." never stands in a path relative to the folder'],
    ['./a', '"." never stands in a path relative to the folder'],
    ['{,/}/a', 'no path can match it'],
    [
      '!a',
      'a leading "!" does not negate; use exclude, or an earlier rule (for a name that starts with "!" write "?")',
    ],
    ['@(a|b)', 'alternatives are written {a,b}, not (a|b) (for the character "|" itself write "[|]")'],
    ['a\\b', 'a backslash neither separates folders (write "/") nor escapes (write "[*]" for the character "*")'],
    ['a'.repeat(1001), 'the pattern is longer than 1000 characters'],
  ])('%j is an error everywhere', (glob, why) => {
    expect(lintGlob(glob)).toBe(why);
    expect(lines(lintRules(matching(glob)))).toEqual([`error rules[0].match: the pattern is wrong: ${why}`]);
  });

  test.each([
    ['{x}/{x}', 'the capture {x} stands twice; give the second one another name'],
    ['{a{x},b}', 'the capture {x} cannot stand inside alternatives: write one rule for each of them'],
  ])('%j is an error', (glob, why) => {
    expect(lines(lintRules(matching(glob)))).toEqual([`error rules[0].match: the pattern is wrong: ${why}`]);
  });

  test('is not judged further: its captures may be there', () => {
    expect(
      lintRules([
        { key: 'rules[0]', match: '{show', title: '{show}' },
        { key: 'rules[1]', title: '{x}' },
      ]),
    ).toHaveLength(1);
  });
});

test.each(['**', '**/*.{mp4,mov}', 'a[\\]b', '(a)|b', '[|](a[|]b)', '*.mp4', 'a/{b/c,d}/*'])(
  '%j is right for include and exclude',
  (glob) => {
    expect(lintGlob(glob)).toBeNull();
  },
);

test('a capture is of no use in include and exclude', () => {
  expect(lintGlob('*.{mp4}')).toBe(
    '{mp4} captures any text, which only rules can use; write "mp4" without braces, or "*"',
  );
});

describe('a template', () => {
  test('with an unknown word is an error that says what was probably meant', () => {
    const rules = [
      {
        key: 'rules[0]',
        match: 'a/{show}/*',
        title: '{titel}',
        description: '{shwo} {nonsense} {nonsense}',
        tags: ['{show}', '{ext'],
      },
      { key: 'rules[1]', match: 'b/*', title: '{show}: {name}' },
    ];
    expect(lines(lintRules(rules))).toEqual([
      'error rules[0].title: unknown word {titel}, did you mean {title}?',
      'error rules[0].description: unknown word {shwo}, did you mean {show}?',
      'error rules[0].description: unknown word {nonsense}; known here are {show} {title} {name} {ext} {path} {dir} {dirs} {date}',
      'error rules[0].tags[1]: a "{" does not belong to a word such as {title}; for the brace itself write "{{"',
      'error rules[1].title: {show} is captured by rules[0], but not by the match of this rule',
    ]);
  });

  test('with every word it knows is right', () => {
    const rule = {
      key: 'r',
      match: '{show}/**',
      title: '{{x}} {show}',
      description: '{title}{name}{ext}{path}{dir}{date}',
      tags: ['{dirs}'],
    };
    expect(lintRules([rule])).toEqual([]);
  });

  test('that means another thing than it says is a warning', () => {
    expect(lines(lintRules(matching('{date}/*', '*.{mp4}')))).toEqual([
      'warning rules[0].match: the capture {date} hides the word {date} in this rule',
      'warning rules[1].match: {mp4} captures any ending; for files that end in ".mp4" write it without braces',
    ]);
    expect(lintRules([{ key: 'r', match: '*.{kind}', title: '{kind}' }])).toEqual([]);
  });
});

describe('a rule that can never match', () => {
  test('is a warning that names the rule before it', () => {
    expect(lines(lintRules(matching('news/**', 'sport/*', '{news,sport}/**', 'news/x/**')))).toEqual([
      'warning rules[3].match: can never match: rules[0] ("news/**") takes every path first',
    ]);
    expect(lines(lintRules(matching('a/*', 'c', 'b/*', '{a,b}/{x}')))).toEqual([
      'warning rules[3].match: can never match: rules[0] ("a/*") and rules[2] ("b/*") together take every path first',
    ]);
  });

  test.each([
    ['a catch-all before it', ['**', 'a']],
    ['the same pattern', ['a/*', 'a/*']],
    ['the same with other captures', ['a/{x}/*.mp4', 'a/{y}/*.mp4']],
    ['a prefix', ['news/**', 'news/x/**/*.mp4']],
    ['a wider name', ['*.mp4', 'clip*.mp4']],
    ['a wider list', ['**/*.{mp4,mov}', 'a/*.mov']],
    ['a wider class', ['[a-z]*', '[b-d]?']],
    ['a negated class', ['[!a]*', 'b']],
    ['a pattern that also fits what is no path', ['a', 'a{,/}']],
    ['a pattern whose first alternative is no path', ['ab', 'a{/,b}']],
    ['any depth', ['**/a/**', 'x/*/a/b/c']],
    ['every first character', ['[!a]*', 'a*', '*.mp4']],
  ])('has %s', (_, globs) => {
    expect(shadowed(...globs)).toEqual([`rules[${globs.length - 1}].match`]);
  });

  test.each([
    ['another folder', ['news/**', 'newsroom/**']],
    ['a deeper path', ['news/*', 'news/**']],
    ['a file of the same name', ['news/**', '{news,x}']],
    ['another case', ['news/**', 'News/a']],
    ['the narrower first', ['a/b/**', 'a/**', '**']],
    ['a shorter name', ['?*x', '*x']],
    ['one of several', ['*.mp4', '*.{mp4,mov}']],
    ['an empty name before the dot', ['{x}.mp4', '*.mp4']],
    ['a gap in the list', ['[ac]', '[a-c]']],
    ['all but one character', ['[!a]*', '*']],
  ])('is not one with %s', (_, globs) => {
    expect(shadowed(...globs)).toEqual([]);
  });

  test('never wins, for any path', () => {
    const globs = fc.array(ruleGlob, { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(globs, fc.array(smallPath, { minLength: 20, maxLength: 40 }), (patterns, paths) => {
        const rules = rulesOf(patterns);
        const losers = lintRules(rules.map(({ key, match }) => ({ key, match }))).filter(({ message }) =>
          message.startsWith('can never'),
        );
        const keys = losers.map(({ key }) => key);
        for (const path of paths) {
          const decided = route(rules, { path, modifiedMs: 0 }, null);
          if (decided.kind === 'take') expect(keys).not.toContain(`${decided.plan.rule}.match`);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('is found whenever it is one', () => {
    // The later pattern matches paths of one to three letters only, and `d` stands for every letter that no pattern names.
    const letters = ['a', 'b', 'c', 'd'];
    const deeper = (paths: string[]) => paths.flatMap((path) => letters.map((letter) => `${path}/${letter}`));
    const paths = [...letters, ...deeper(letters), ...deeper(deeper(letters))];
    const piece = fc.constantFrom('a', '?', '[ab]', '{b,c}', '[!a]');
    const pattern = (part: fc.Arbitrary<string>) =>
      fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(pattern(fc.oneof(piece, fc.constant('**'))), pattern(piece), (first, second) => {
        const [before, after] = [compileMatch(first), compileMatch(second)];
        const canWin = paths.some((path) => after.match(path) !== null && before.match(path) === null);
        expect(shadowed(first, second).length === 1).toBe(!canWin);
      }),
      { numRuns: 500 },
    );
  });

  test('is searched for within bounds, whatever the patterns are', () => {
    const started = performance.now();
    lintRules(matching(...Array.from({ length: 12 }, (_, i) => `**/*a*b*${'?'.repeat(i)}c*/**/*[a-m]*????????????x*`)));
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe('a directory to move to', () => {
  test.each(['done', 'done/{date}', './done', '{dir}/done', '{{x}}'])('%j is right', (template) => {
    expect(lintMoveTemplate(template)).toBeNull();
  });

  test.each([
    ['', 'it would leave every file where it is; name a directory, as in "done/{date}"'],
    ['./{dir}/', 'it would leave every file where it is; name a directory, as in "done/{date}"'],
    ['/done', 'it must be a directory inside the folder, without "/" at the start'],
    ['a/../b', 'it must be a directory inside the folder, without ".."'],
    ['a/.done', 'a directory must not be hidden (start with ".")'],
    ['a\\b', 'write "/" between directories'],
    ['done/{dat}', 'unknown word {dat}, did you mean {date}?'],
    ['done/{show}', 'unknown word {show}; known here are {title} {name} {ext} {path} {dir} {dirs} {date}'],
    ['done/{', 'a "{" does not belong to a word such as {title}; for the brace itself write "{{"'],
  ])('%j is wrong', (template, why) => {
    expect(lintMoveTemplate(template)).toBe(why);
  });
});

test('no text at all makes the checks throw', () => {
  const rule = fc.record(
    { match: hostileText, title: hostileText, description: hostileText, tags: fc.array(hostileText) },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 4 }), hostileText, (rules, text) => {
      lintRules(rules.map((one, i) => ({ key: `rules[${i}]`, ...one })));
      lintGlob(text);
      lintMoveTemplate(text);
    }),
  );
});
