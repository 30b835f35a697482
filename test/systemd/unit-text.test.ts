import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bindWord, mountUnit, unitWord } from '../../src/systemd/unit-text.ts';

/** How systemd reads a line: `extract_first_word` with EXTRACT_UNQUOTE, then the specifiers (src/basic/extract-word.c of 252). */
function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (character === '\\') word = (word ?? '') + line.charAt((at += 1));
    else if (quote !== '') {
      if (character === quote) quote = '';
      else word += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/[ \t\n\r]/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + character;
  }
  if (quote !== '') throw new Error(`no end of quotation in ${line}`);
  if (word !== null) words.push(word);
  return words.map((each) => {
    if (/%(?!%)/.test(each.replaceAll('%%', ''))) throw new Error(`a specifier in ${line}`);
    return each.replaceAll('%%', '%');
  });
}

const path = fc
  .array(fc.oneof(fc.constantFrom(' ', '"', "'", '\\', '%', '%n', ':', '$HOME', '#', ';', '*', 'ü', '-'), fc.string()))
  .map((parts) => `/srv/${parts.join('').replaceAll(/\p{Cc}/gu, '')}`);

test('systemd reads back the path that was written, whatever is in it', () => {
  fc.assert(
    fc.property(path, path, (one, other) => {
      expect(wordsOf(`${unitWord(`-${one}`)} ${unitWord(other)}`)).toEqual([`-${one}`, other]);
    }),
    { numRuns: 2_000 },
  );
});

test('a bound path is one source without a destination, and is read the same a second time; others are refused', () => {
  fc.assert(
    fc.property(path, (one) => {
      if (/[:"'\\]/.test(one)) {
        expect(() => bindWord(`-${one}`)).toThrow('systemd cannot bind');
        return;
      }
      const [read = '', ...more] = wordsOf(bindWord(`-${one}`));
      expect([read, ...more]).toEqual([`-${one}`]);
      expect(wordsOf(`"${read.replaceAll('%', '%%')}"`)).toEqual([read]);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['/srv/inbox', '/srv/inbox'],
  ['-/srv/My Videos', '"-/srv/My Videos"'],
  ['/srv/100%x', '/srv/100%%x'],
  ['/srv/a"b', '"/srv/a\\"b"'],
  ["/srv/it's", '"/srv/it\'s"'],
  ['/srv/back\\', '"/srv/back\\\\"'],
  ['/srv/a;b #c', '"/srv/a;b #c"'],
])('%s is written %s', (text, word) => {
  expect(unitWord(text)).toBe(word);
});

test.each(['/srv/a\nExecStart=/bin/sh', '/srv/a\rb', '/srv/\u0000', '/srv/a\tb', '/srv/\u001b[2J', '/srv/\u0085'])(
  'a control character is refused by the name of its path: %j',
  (text) => {
    expect(() => unitWord(text)).toThrow(`${JSON.stringify(text)} contains a control character`);
    expect(() => bindWord(text)).toThrow('control character');
  },
);

test.each([
  ['/home/a"b', 'a quotation mark'],
  ["/home/it's", 'a quotation mark'],
  ['/home/a:b', 'a colon'],
  ['/home/x:/usr/lib/dropcast/bin', 'a colon'],
  ['/home/a\\b', 'a backslash'],
])('%s cannot be bound', (text, why) => {
  expect(() => bindWord(text)).toThrow(why);
});

describe('the unit of a mount point is called as systemd-escape does', () => {
  // From `systemd-escape --path --suffix=mount` of 252.
  test.each([
    ['/', '-.mount'],
    ['/mnt/nas', 'mnt-nas.mount'],
    ['/mnt//nas/', 'mnt-nas.mount'],
    ['/mnt/nas one', String.raw`mnt-nas\x20one.mount`],
    ['/mnt/a-b', String.raw`mnt-a\x2db.mount`],
    ['/.hidden/.too', String.raw`\x2ehidden-.too.mount`],
    ['/mnt/ü', String.raw`mnt-\xc3\xbc.mount`],
    ['/mnt/100%', String.raw`mnt-100\x25.mount`],
    ['/mnt/a\\b"c', String.raw`mnt-a\x5cb\x22c.mount`],
    ['/mnt/a:b_c.d', 'mnt-a:b_c.d.mount'],
  ])('%s', (mountPoint, unit) => {
    expect(mountUnit(mountPoint)).toBe(unit);
  });
});
