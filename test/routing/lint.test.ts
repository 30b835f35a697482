import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { doubtMoveTemplate, lintGlob, lintMoveTemplate, lintRules } from '../../src/routing/lint.ts';
import { compileMatch } from '../../src/routing/match.ts';
import { route } from '../../src/routing/route.ts';
import { hostileText, ruleGlob, rulesOf, smallPath } from './generators.ts';

const matching = (...globs: string[]) => globs.map((match, i) => ({ key: `rules[${i}]`, match }));
const shadowed = (...globs: string[]) =>
  lintRules(matching(...globs)).flatMap(({ key, message }) => (message.startsWith('can never') ? [key] : []));

describe('a pattern that is wrong', () => {
  test.each([
    ['', 'empty'],
    ['a{b,c', '"[{]"'],
    ['a}', '"[}]"'],
    ['[a', '"[[]"'],
    ['[]', '"[[]"'],
    ['a]', '"[]]"'],
    ['[z-a]', '"z-a"'],
    ['[a/b]', 'inside [ ]'],
    ['[[:alpha:]]', '[a-z]'],
    ['{a b}', '{mp4,mov}'],
    ['{}', '{mp4,mov}'],
    ['**.mp4', '"**/*.mp4"'],
    ['***', '"**/*.mp4"'],
    ['{a/**,b}', 'inside { }'],
    ['/srv/a', 'relative to the folder'],
    ['a/', 'add "**"'],
    ['a//b', 'between two slashes'],
    ['../a', '".."'],
    ['./a', '"."'],
    ['{,/}/a', 'no path'],
    ['!a', 'exclude'],
    ['@(a|b)', '{a,b}'],
    ['a\\b', 'backslash'],
    ['a'.repeat(1001), '1000 characters'],
  ])('%j is an error everywhere', (glob, fact) => {
    expect(lintGlob(glob)).toContain(fact);
    expect(lintRules(matching(glob))).toEqual([
      { key: 'rules[0].match', severity: 'error', message: expect.stringContaining(fact) },
    ]);
  });

  test.each([
    ['{x}/{x}', '{x}'],
    ['{a{x},b}', '{x}'],
  ])('%j is an error', (glob, fact) => {
    expect(lintRules(matching(glob))).toEqual([
      { key: 'rules[0].match', severity: 'error', message: expect.stringContaining(fact) },
    ]);
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
  expect(lintGlob('*.{mp4}')).toContain('{mp4}');
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
    expect(lintRules(rules)).toEqual(
      [
        ['rules[0].title', '{title}'],
        ['rules[0].description', '{show}'],
        ['rules[0].description', '{show} {title} {name} {ext} {path} {dir} {dirs} {date}'],
        ['rules[0].tags[1]', '"{{"'],
        ['rules[1].title', 'rules[0]'],
      ].map(([key, fact]) => ({ key, severity: 'error', message: expect.stringContaining(fact ?? '') })),
    );
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
    expect(lintRules(matching('{date}/*', '*.{mp4}'))).toEqual([
      { key: 'rules[0].match', severity: 'warning', message: expect.stringContaining('{date}') },
      { key: 'rules[1].match', severity: 'warning', message: expect.stringContaining('".mp4"') },
    ]);
    expect(lintRules([{ key: 'r', match: '*.{kind}', title: '{kind}' }])).toEqual([]);
  });
});

describe('a rule that can never match', () => {
  test('is a warning that names the rule before it', () => {
    expect(lintRules(matching('news/**', 'sport/*', '{news,sport}/**', 'news/x/**'))).toEqual([
      { key: 'rules[3].match', severity: 'warning', message: expect.stringContaining('rules[0] ("news/**")') },
    ]);
    expect(lintRules(matching('a/*', 'c', 'b/*', '{a,b}/{x}'))).toEqual([
      { key: 'rules[3].match', severity: 'warning', message: expect.stringMatching(/rules\[0\] .*rules\[2\] /) },
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
        const canWin = paths.some((path) => after(path) !== null && before(path) === null);
        expect(shadowed(first, second).length === 1).toBe(!canWin);
      }),
      { numRuns: 500 },
    );
  });

  test('is searched for within bounds, whatever the patterns are', () => {
    lintRules(matching(...Array.from({ length: 12 }, (_, i) => `**/*a*b*${'?'.repeat(i)}c*/**/*[a-m]*????????????x*`)));
  });
});

describe('a directory to move to', () => {
  test.each(['done', 'done/{date}', './done', '{dir}/done', '{{x}}'])('%j is right', (template) => {
    expect(lintMoveTemplate(template)).toBeNull();
  });

  test.each([
    ['', '"done/{date}"'],
    ['./{dir}/', '"done/{date}"'],
    ['/done', 'inside the folder'],
    ['a/../b', '".."'],
    ['a/.done', 'hidden'],
    ['a\\b', '"/"'],
    ['done/{dat}', '{date}'],
    ['done/{show}', '{title} {name} {ext} {path} {dir} {dirs} {date}'],
    ['done/{', '"{{"'],
  ])('%j is wrong', (template, fact) => {
    expect(lintMoveTemplate(template)).toContain(fact);
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

test.each(['{name}', '{title}/{dir}'])('a directory to move to that may be any, as %s, is doubtful', (template) => {
  expect(doubtMoveTemplate(template)).toContain('begin with a name');
});

test.each(['done/{date}', '{dir}/done', '{date}', '{unknown}'])('a directory to move to as %s is not', (template) => {
  expect(doubtMoveTemplate(template)).toBeNull();
});
