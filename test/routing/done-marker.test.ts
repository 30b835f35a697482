import { posix } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createDoneMarker, lintDoneMarker } from '../../src/routing/done-marker.ts';

describe('a done marker', () => {
  test.each([
    ['{name}.{ext}.done', 'news/clip.mp4', 'news/clip.mp4.done', 'news/clip'],
    ['{name}.done', 'news/clip.mp4', 'news/clip.done', 'news/clip'],
    ['{name}.{ext}.done', 'no extension', 'no extension.done', 'no extension'],
    ['READY_{name}', 'a.b.mp4', 'READY_a.b', 'a.b'],
    ['{ext}+{name} (ok)', 'clip.mp4', 'mp4+clip (ok)', 'clip'],
  ])('%s of %j is %j', (template, path, marker, stem) => {
    const { markerOf, isMarker, stemOf } = createDoneMarker(template);
    expect(markerOf(path)).toBe(marker);
    expect([isMarker(marker), isMarker(path)]).toEqual([true, false]);
    expect(path.startsWith(stemOf(marker))).toBe(true);
    expect(stemOf(marker)).toContain(stem);
  });

  test('is known by its name, whatever the file is called', () => {
    const template = fc.constantFrom('{name}.{ext}.done', '{name}.done', 'ok_{name}', '{name}-{ext}.$&.fertig');
    // No hidden file is looked at.
    const segment = fc
      .string({
        minLength: 1,
        unit: fc.oneof(
          fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
          fc.constantFrom('\n', '\r', '\u2028'),
        ),
      })
      .filter((text) => !/[/\0]|^\./u.test(text));
    fc.assert(
      fc.property(template, segment, (chosen, base) => {
        // `{name}-{ext}` cannot tell where an extension like `.a-b` begins; no video has one.
        fc.pre(!posix.extname(base).includes('-'));
        const { markerOf, isMarker, stemOf } = createDoneMarker(chosen);
        const marker = markerOf(`show/${base}`);
        expect(isMarker(marker)).toBe(true);
        const rest = `show/${base}`.slice(stemOf(marker).length);
        expect(`show/${base}`.startsWith(stemOf(marker)) && /^($|\.)/u.test(rest)).toBe(true);
      }),
    );
  });
});

test.each([
  ['{name}.{ext}.done', null],
  ['{name}.ok', null],
  ['done', 'it needs {name} once, as in "{name}.{ext}.done"'],
  ['{name}{name}.done', 'it needs {name} once, as in "{name}.{ext}.done"'],
  ['{name}.{ext}', 'it would be the name of a video; add something, as in "{name}.{ext}.done"'],
  ['{title}.done', 'unknown word {title}; use {name} and {ext}'],
  ['{name}.done}', 'braces are only for {name} and {ext}'],
  ['markers/{name}.done', 'it must be a file name, without a directory'],
  ['.{name}.done', 'it must not be hidden (start with "."): dropcast ignores hidden files'],
])('as a template %j: %s', (template, why) => {
  expect(lintDoneMarker(template)).toBe(why);
});
