import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  checkSidecar,
  isSidecarName,
  isSidecarOf,
  renamedSidecar,
  sidecarNames,
  stemOf,
  stemSpellings,
} from '../../src/routing/sidecar.ts';

const why = (value: unknown, name = 'clip.yaml') => {
  const checked = checkSidecar(name, value);
  return checked.ok ? null : checked.why;
};

describe('the name of a sidecar', () => {
  test.each([
    ['clip.mp4', ['clip.yaml', 'clip.yml', 'clip.json', 'clip.mp4.yaml', 'clip.mp4.yml', 'clip.mp4.json']],
    ['clip', ['clip.yaml', 'clip.yml', 'clip.json']],
    ['clip.json', ['clip.yaml', 'clip.yml', 'clip.json.yaml', 'clip.json.yml', 'clip.json.json']],
  ])('of %j is one of %j', (path, names) => {
    expect(sidecarNames(path)).toEqual(names);
  });

  test.each([
    ['a/clip.yaml', true],
    ['clip.yml', true],
    ['clip.mp4.json', true],
    ['clip.mp4', false],
    ['clip.YAML', true],
    ['clip.Json', true],
    ['clip.yaml.txt', true],
    ['clip.txt', false],
    ['.yaml', false],
    ['yaml', false],
  ])('%j: %j', (path, isOne) => {
    expect(isSidecarName(path)).toBe(isOne);
  });

  test('is known as one whatever the video is called', () => {
    const name = fc.string({ minLength: 1 }).filter((text) => !/[/\0]/.test(text) && !/^\.+$/.test(text));
    fc.assert(fc.property(name, (path) => sidecarNames(path).every(isSidecarName)));
  });
});

test.each([
  ['CLIP.MP4', 'CLIP.YAML', true],
  ['Clip.mp4', 'clip.yaml', true],
  ['a/clip.mp4', 'a/clip.MP4.Yml', true],
  ['a/clip.mp4', 'a/clip.yaml.txt', true],
  ['Gro\u0308\u00DFe.mp4', 'Gr\u00F6\u00DFe.yaml', true],
  ['Gr\u00F6\u00DFe.mp4', 'GRO\u0308\u00DFE.mp4.json', true],
  ['a/clip.mp4', 'clip.yaml', false],
  ['clip.mp4', 'clip.mov.yaml', false],
  ['clip.mp4', 'clip.txt', false],
  ['clip.mp4', 'clip2.yaml', false],
  ['clip.json', 'clip.json', false],
])('of %j: %j: %j', (path, sidecar, isIts) => {
  expect(isSidecarOf(path, sidecar)).toBe(isIts);
  // Where it comes late, its video is found by the beginning of the path.
  if (isIts) expect(stemSpellings(stemOf(sidecar)).some((stem) => path.startsWith(stem))).toBe(true);
});

test.each([
  ['clip.mp4.json', 'clip.mp4', 'clip (2).mp4', 'clip (2).mp4.json'],
  ['clip.yaml', 'clip.mp4', 'clip (2).mp4', 'clip (2).yaml'],
  ['READY_clip', 'clip.mp4', 'clip (2).mp4', 'READY_clip (2)'],
  ['CLIP.YAML', 'clip.mp4', 'clip (2).mp4', 'clip (2).YAML'],
  ['Gr\u00F6\u00DFe.yaml', 'Gro\u0308\u00DFe.mp4', 'Gro\u0308\u00DFe (2).mp4', 'Gro\u0308\u00DFe (2).yaml'],
])('%j goes with its video from %j to %j as %j', (sidecar, before, after, name) => {
  expect(renamedSidecar(sidecar, before, after)).toBe(name);
});

describe('a sidecar', () => {
  test.each([
    [{}, {}],
    [
      { title: 'T', description: '', channel: 'ch_1' },
      { title: 'T', description: '', channel: 'ch_1' },
    ],
    [
      { tags: 'live', publish: 'feed_1' },
      { tags: ['live'], publish: ['feed_1'] },
    ],
    [
      { tags: ['a', 'b'], publish: [] },
      { tags: ['a', 'b'], publish: [] },
    ],
    [{ title: null, tags: null, publish: null }, {}],
  ])('%j is right', (value, sidecar) => {
    expect(checkSidecar('clip.yaml', value)).toEqual({ ok: true, sidecar });
  });

  test.each([
    [null, 'nothing'],
    ['news', 'text'],
    [[1], 'list'],
    [{ chanel: 'x' }, '"channel"'],
    [{ zzzzzz: 1 }, 'title, description, tags, channel, publish'],
    [{ title: ' \n' }, 'title: '],
    [{ title: '\u200B\u3164' }, 'title: is empty'],
    [{ title: 1984 }, '1984'],
    [{ tags: ['a', 7] }, 'tags[1]: '],
    [{ tags: 7 }, 'tags[0]: '],
    [{ tags: [null] }, 'tags[0]: '],
    [{ description: {} }, 'description: '],
    [{ description: true }, 'quotes'],
    [{ channel: '../videos' }, 'channel: '],
    [{ publish: ['..'] }, 'publish[0]: '],
    [{ publish: [''] }, 'publish[0]: '],
    [{ title: 'a'.repeat(1001) }, '1000 characters'],
    [{ tags: Array.from({ length: 101 }, String) }, '100 entries'],
  ])('%j is refused', (value, fact) => {
    expect(why(value)).toMatch(/^sidecar "clip\.yaml": /);
    expect(why(value)).toContain(fact);
  });

  test('is refused with all its problems in one sentence', () => {
    expect(why({ titel: 'x', title: 3, tags: [''], publish: [false] }, 'a\nb.json')).toMatch(
      /^sidecar "a\\nb\.json": title: .*; publish\[0\]: .*; "titel": .*"title"\?$/,
    );
    expect(why({ publish: Array.from({ length: 20 }, () => '') })).toMatch(/publish\[7\]: [^;]+; and 12 more$/);
  });

  test('with a key of the language itself is refused like any other', () => {
    expect(why(JSON.parse('{"__proto__": {"title": "x"}, "constructor": 1}'))).toMatch(
      /"__proto__": .*"constructor": /,
    );
  });

  test('may be anything without a throw', () => {
    fc.assert(
      fc.property(fc.anything(), fc.string(), (value, name) => typeof checkSidecar(name, value).ok === 'boolean'),
    );
  });
});
