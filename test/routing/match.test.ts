import * as fc from 'fast-check';
import picomatch from 'picomatch';
import { describe, expect, test } from 'vitest';
import { compileFilter, compileMatch } from '../../src/routing/match.ts';
import { hostileText, plainGlob, ruleGlob, smallPath } from './generators.ts';

describe('a glob', () => {
  test.each([
    ['**', 'clip.mp4', {}],
    ['**', 'a/b/c.mp4', {}],
    ['*', 'a/b', null],
    ['news/**', 'news/a/b.mp4', {}],
    ['news/**', 'news', null],
    ['news/**', 'newsroom/a.mp4', null],
    ['**/*.mp4', 'clip.mp4', {}],
    ['**/*.mp4', 'a/b/.clip.mp4', {}],
    ['a/**/b', 'a/b', {}],
    ['a/**/b', 'a/x/y/b', {}],
    ['a/**/b', 'axb', null],
    ['**/a/**/b', 'x/a/b', {}],
    ['*.{mp4,mov}', 'clip.mov', {}],
    ['*.{mp4,mov}', 'clip.MOV', null],
    ['clip{,-final}.mp4', 'clip.mp4', {}],
    ['{a,{b,c/d}}/x', 'c/d/x', {}],
    ['?.mp4', '😀.mp4', {}],
    ['?', 'ab', null],
    ['[a-c]x', 'bx', {}],
    ['[!a-c]x', 'bx', null],
    ['a[!b]c', 'a/c', null],
    ['[]]x', ']x', {}],
    ['[[]1[]].mp4', '[1].mp4', {}],
    ['[*].mp4', '*.mp4', {}],
    ['[*].mp4', 'a.mp4', null],
    ['clip (1).mp4', 'clip (1).mp4', {}],
    ['a+b|c$.mp4', 'a+b|c$.mp4', {}],
    ['*.mp4', 'two\nlines.mp4', {}],
    ['*', `it's "quoted"`, {}],
  ])('%j against %j gives %j', (glob, path, captures) => {
    expect(compileMatch(glob)(path)).toEqual(captures);
  });

  test('of other tools keeps its meaning: it agrees with picomatch', () => {
    fc.assert(
      fc.property(plainGlob, smallPath, (glob, path) => {
        // The one intended difference: there `news/**` also takes a file called `news`.
        const theirs = picomatch.isMatch(path, glob.replace(/\*\*$/u, '**/*'), { dot: true, strictSlashes: true });
        expect(compileMatch(glob)(path) !== null).toBe(theirs);
      }),
      { numRuns: 2000 },
    );
  });

  test('takes a name whose letters a Mac has spelled in two characters', () => {
    expect(compileMatch('Über {x}/*')('U\u0308ber uns/a')).toEqual({ x: 'uns' });
  });

  test('that is broken matches nothing and does not throw', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (glob, path) => {
        compileMatch(glob)(path);
        compileFilter([glob], [path])(path);
      }),
    );
    expect(compileMatch('{a')('{a')).toBeNull();
  });
});

describe('a capture', () => {
  test.each([
    ['news/{show}/**', 'news/evening/a/b.mp4', { show: 'evening' }],
    ['news/{show}/**', 'news/b.mp4', null],
    ['{show}-{part}.mp4', 'a-b-c.mp4', { show: 'a', part: 'b-c' }],
    ['{show}/{name}.{ext}', 'x/a.b.mp4', { show: 'x', name: 'a', ext: 'b.mp4' }],
    ['**/{last}/*', 'a/b/c.mp4', { last: 'b' }],
    ['**/{first}/**', 'a/b/c.mp4', { first: 'a' }],
    ['x{show}', 'x', null],
    ['{show}', 'a/b', null],
    ['{show}.mp4', 'a{title}\n"😀[].mp4', { show: 'a{title}\n"😀[]' }],
    ['{a,b}/{constructor}', 'b/c', { constructor: 'c' }],
  ])('%j against %j gives %j', (glob, path, captures) => {
    expect(compileMatch(glob)(path)).toEqual(captures);
  });

  test('inserted again gives the original path', () => {
    fc.assert(
      fc.property(ruleGlob, smallPath, (glob, path) => {
        const captures = compileMatch(glob)(path);
        if (captures === null) return;
        const filled = glob.replace(/\{([xy])\}/g, (_, name: string) => captures[name] ?? '');
        expect(compileMatch(filled)(path)).not.toBeNull();
      }),
    );
  });

  test('stays where it was first found when a later attempt to extend it fails', () => {
    expect(compileMatch('{a,ab}{x}c/d')('abc/d')).toEqual({ x: 'b' });
    expect(compileMatch('**/{x}/d/**')('d/d/e/d/f')).toEqual({ x: 'd' });
  });
});

describe('a hostile path', () => {
  const name = 'a'.repeat(4096);
  test.each([
    ['many stars', '*a*a*a*a*a*a*a*a*a*b', name],
    ['many captures', '{a}a{b}a{c}a{d}a{e}a{f}b', name],
    ['many folders', '**/a/**/a/**/a/**/a/**/b', 'a/'.repeat(2047) + 'a'],
    ['nested alternatives', '{a,{aa,{a,aa}}}{a,aa}*{a,aa}*{a,aa}*b', name],
    ['emoji', '*😀*😀*😀*😀*x', '😀'.repeat(1024)],
    // Backtracking would take more than (length of the path)^4 steps.
  ])('of 4,096 bytes is refused without backtracking: %s', (_, glob, path) => {
    expect(compileMatch(glob)(path)).toBeNull();
    expect(compileFilter([glob], [])(path)).toBe(false);
  });
});

describe('include and exclude', () => {
  test.each([
    [['**/*.{mp4,mov}'], [], 'a/CLIP.MP4', true],
    [['**/*.MP4'], [], 'clip.mp4', true],
    [['**/*.mp4'], [], 'clip.mp4.part', false],
    [['**/*.mp4'], [], 'mp4', false],
    [['**/*.mp4'], [], 'a.mp4/readme', false],
    [['**/*.mp4'], ['tmp/**'], 'TMP/clip.mp4', false],
    [['**/*.mp4'], ['**/ÄLT/**'], 'a/ält/clip.mp4', false],
    [['**/*.mp4'], ['[A-C]*'], 'bear.mp4', false],
    [['news/*', '**/*.mov'], [], 'news/a', true],
    [[], [], 'clip.mp4', false],
  ])('%j without %j on %j is %j', (include, exclude, path, isOurs) => {
    expect(compileFilter(include, exclude)(path)).toBe(isOurs);
  });

  test('by extension say the same as the general way', () => {
    const fast = compileFilter(['**/*.{a,b}', '**/*.ab'], []);
    const general = compileFilter(['**/?*.{a,b}', '**/.{a,b}', '**/*.[a]b'], []);
    fc.assert(fc.property(smallPath, (path) => fast(path) === general(path)));
  });
});
