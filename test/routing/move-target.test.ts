import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isVague, moveTarget } from '../../src/routing/move-target.ts';
import { TEMPLATE_WORDS, renderDirectory } from '../../src/routing/template.ts';

describe('a template', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    [
      'done/{date}',
      ['done/2026-01-02/a.mp4', 'done/a.mp4', 'done/anything/else/a.mp4'],
      ['a.mp4', 'news/a.mp4', 'done.mp4', 'undone/a.mp4', 'news/done/a.mp4', 'Done/a.mp4'],
    ],
    ['./archive//done', ['archive/done/a.mp4', 'archive/done/b/a.mp4'], ['archive/a.mp4', 'archive/done.mp4']],
    [
      '{dir}/done',
      ['done/a.mp4', 'news/done/a.mp4', 'news/tv/done/b/a.mp4'],
      ['a.mp4', 'news/a.mp4', 'news/undone/a.mp4'],
    ],
    [
      '{date}',
      ['2026-01-02/a.mp4', 'undated/a.mp4', '+010000-01-01/a.mp4'],
      ['2026-01/a.mp4', 'x2026-01-02/a.mp4', '2026-01-02.mp4'],
    ],
    ['{date:local}', ['2026-01-02/a.mp4', 'undated/a.mp4'], ['2026-01/a.mp4', '2026-01-02.mp4']],
    ['{dirs}/{date}', ['2026-01-02/a.mp4', 'news/2026-01-02/a.mp4'], ['news/a.mp4', '2026-01-02.mp4']],
    ['sent-{ext}', ['sent-mp4/a.mp4', 'sent-/a.mp4'], ['sent/a.mp4', 'x/sent-mp4/a.mp4', 'sent-mp4']],
    ['{name}/done', ['a/done/a.mp4', 'done/a.mp4'], ['a/b/done/a.mp4', 'a/a.mp4']],
    ['{ext}.sent', ['mp4.sent/a.mp4', '_sent/a.mp4'], ['sent/a.mp4']],
    ['.{ext}.sent', ['_mp4.sent/a.mp4', '_sent/a.mp4'], ['mp4.sent/a.mp4', 'sent/a.mp4']],
    ['a+b (1)', ['a+b (1)/c.mp4'], ['aab (1)/c.mp4', 'a+b 1/c.mp4']],
  ])('%s holds what it may have been moved to, and nothing else', (template, held, others) => {
    const target = moveTarget(template);
    expect(held.filter((path) => target?.holdsFile(path) !== true)).toEqual([]);
    expect(others.filter((path) => target?.holdsFile(path) !== false)).toEqual([]);
  });

  test('holds its directory and those below, not those above', () => {
    const target = moveTarget('archive/done/{date}');
    const paths = ['archive', 'archive/done', 'archive/done/2026-01-02', 'archive/done/x/y', 'archive/donee'];
    expect(paths.map((path) => target?.holdsDirectory(path))).toEqual([false, true, true, true, false]);
  });

  test.each(['{name}', '{title}/{dir}', '{dir}/{ext}', '{title}-{ext}', '{path}', '{name}/'])(
    '%s may be any directory, and so holds none',
    (template) => {
      expect([isVague(template), moveTarget(template)]).toEqual([true, null]);
    },
  );

  test.each(['done', '{dir}/done', '{date}', 'x/{name}', '{name}x'])('%s is not any directory', (template) => {
    expect(isVague(template)).toBe(false);
  });
});

const text = fc.string({ unit: fc.constantFrom(...Array.from('abé0 ._()+$^-\u0007')), maxLength: 4 });
const word = fc.constantFrom(...TEMPLATE_WORDS).map((name) => `{${name}}`);
const template = fc
  .array(fc.array(fc.oneof(text, word), { maxLength: 3 }), { minLength: 1, maxLength: 4 })
  .map((segments) => segments.map((parts) => parts.join('')).join('/'));
const name = fc
  .string({ unit: fc.constantFrom(...Array.from('abé0 ._()+-\u0007')), minLength: 1, maxLength: 6 })
  .filter((part) => part !== '.' && part !== '..');
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));

test('whatever a template is and whatever file is moved, its target holds where it was moved', () => {
  fc.assert(
    fc.property(template, path, fc.integer({ min: -1e13, max: 9e15 }), (template, path, modifiedMs) => {
      const directory = renderDirectory(template, { path, modifiedMs });
      const target = moveTarget(template);
      if (target === null || directory === '') return;
      expect(target.holdsFile(`${directory}/a.mp4`)).toBe(true);
      expect(target.holdsDirectory(directory)).toBe(true);
    }),
    { numRuns: 3000 },
  );
});
