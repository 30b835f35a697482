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
    [null, 'sidecar "clip.yaml": expected keys such as "title: …", got nothing'],
    ['news', 'sidecar "clip.yaml": expected keys such as "title: …", got only text'],
    [[1], 'sidecar "clip.yaml": expected keys such as "title: …", got a list'],
    [{ chanel: 'x' }, 'sidecar "clip.yaml": "chanel": unknown key, did you mean "channel"?'],
    [{ zzzzzz: 1 }, 'sidecar "clip.yaml": "zzzzzz": unknown key, known are title, description, tags, channel, publish'],
    [{ title: ' \n' }, 'sidecar "clip.yaml": title: is empty'],
    [{ title: 1984 }, 'sidecar "clip.yaml": title: expected text, got the number 1984: put it in quotes'],
    [{ tags: ['a', 7] }, 'sidecar "clip.yaml": tags[1]: expected text, got the number 7: put it in quotes'],
    [{ tags: 7 }, 'sidecar "clip.yaml": tags[0]: expected text, got the number 7: put it in quotes'],
    [{ tags: [null] }, 'sidecar "clip.yaml": tags[0]: expected text, got nothing'],
    [{ description: {} }, 'sidecar "clip.yaml": description: expected text, got keys'],
    [{ description: true }, 'sidecar "clip.yaml": description: expected text, got true: put it in quotes'],
    [{ channel: '../videos' }, 'sidecar "clip.yaml": channel: is not an identifier'],
    [{ publish: ['..'] }, 'sidecar "clip.yaml": publish[0]: is not an identifier'],
    [{ publish: [''] }, 'sidecar "clip.yaml": publish[0]: is empty'],
    [{ title: 'a'.repeat(1001) }, 'sidecar "clip.yaml": title: longer than 1000 characters'],
    [{ tags: Array.from({ length: 101 }, String) }, 'sidecar "clip.yaml": tags: more than 100 entries'],
  ])('%j is refused', (value, sentence) => {
    expect(why(value)).toBe(sentence);
  });

  test('is refused with all its problems in one sentence', () => {
    expect(why({ titel: 'x', title: 3, tags: [''], publish: [false] }, 'a\nb.json')).toBe(
      'sidecar "a\\nb.json": title: expected text, got the number 3: put it in quotes; ' +
        'publish[0]: expected text, got false: put it in quotes; "titel": unknown key, did you mean "title"?',
    );
    expect(why({ publish: Array.from({ length: 20 }, () => '') })).toMatch(/publish\[7\]: is empty; and 12 more$/);
  });

  test('with a key of the language itself is refused like any other', () => {
    expect(why(JSON.parse('{"__proto__": {"title": "x"}, "constructor": 1}'))).toMatch(
      /"__proto__": unknown key.*"constructor": unknown key/,
    );
  });

  test('may be anything without a throw', () => {
    fc.assert(
      fc.property(fc.anything(), fc.string(), (value, name) => typeof checkSidecar(name, value).ok === 'boolean'),
    );
  });
});
