import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkSidecar, isSidecarName, sidecarNames } from '../../src/routing/sidecar.ts';

const why = (value: unknown, name = 'clip.yaml') => {
  const checked = checkSidecar(name, value);
  return checked.ok ? null : checked.why;
};

describe('the name of a sidecar', () => {
  test.each([
    ['clip.mp4', ['clip.yaml', 'clip.yml', 'clip.json', 'clip.mp4.json']],
    ['a/b.c/clip.v2.MP4', ['a/b.c/clip.v2.yaml', 'a/b.c/clip.v2.yml', 'a/b.c/clip.v2.json', 'a/b.c/clip.v2.MP4.json']],
    ['clip', ['clip.yaml', 'clip.yml', 'clip.json']],
    ['clip.json', ['clip.yaml', 'clip.yml', 'clip.json.json']],
  ])('of %j is one of %j', (path, names) => {
    expect(sidecarNames(path)).toEqual(names);
  });

  test.each([
    ['a/clip.yaml', true],
    ['clip.yml', true],
    ['clip.mp4.json', true],
    ['clip.mp4', false],
    ['clip.YAML', false],
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
