import { describe, expect, it } from 'vitest';
import { parseConfigDocument, parseYaml } from '../../src/config/document.ts';
import { TaggedValue } from '../../src/config/raw-tree.ts';
import { expectProblems } from './scratch.ts';

/** Everything wrong with the text, as `line:column message`. */
function wrong(text: string): string[] {
  const { problems, findings, locate } = parseConfigDocument(text);
  const placed = findings.map((finding) => ({ ...(finding.place ?? locate(finding.path, finding.at)), ...finding }));
  return [...problems, ...placed].map(({ line, column, message }) => `${line}:${column} ${message}`);
}

describe('what YAML 1.2 says', () => {
  it('reads words of YAML 1.1 as text and numbers as decimal', () => {
    const { value } = parseConfigDocument('a: [yes, off, 0755, 12:30, 1_000, ~, true, 0x10]\n');
    expect(value).toEqual({ a: ['yes', 'off', 755, '12:30', '1_000', null, true, 16] });
  });

  it('reads the three tags of secrets as markers', () => {
    expect(parseConfigDocument('[!env A, !file "b c", !credential d]').value).toEqual([
      new TaggedValue('env', 'A'),
      new TaggedValue('file', 'b c'),
      new TaggedValue('credential', 'd'),
    ]);
  });

  it('lets an alias replace a whole value, as often as a thousand folders need', () => {
    const text = `a: &rules [{ x: 1 }, { y: 2 }]\nb:\n${'  - *rules\n'.repeat(5000)}`;
    expect(wrong(text)).toEqual([]);
    expect(parseConfigDocument(text).value).toHaveProperty('b.4999', [{ x: 1 }, { y: 2 }]);
  });

  it('makes a property of __proto__ and nothing else', () => {
    const { value } = parseConfigDocument('__proto__: { polluted: true }');
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect({}).not.toHaveProperty('polluted');
  });

  it('ignores a byte order mark and carriage returns in positions', () => {
    expectProblems(wrong('a: 1\r\nb: 2\r\na: 3\r\n'), ['3:1 ~ duplicate ~ line 1']);
  });

  it.each(['', '# nothing', '---\n', '\n\n'])('takes %j for nothing', (text) => {
    expect(parseConfigDocument(text)).toMatchObject({ value: null, problems: [], findings: [] });
  });
});

describe('what is refused, and where', () => {
  it.each([
    ['a: 1\na: 2\na: 3', ['2:1 ~ duplicate ~ line 1', '3:1 ~ duplicate ~ line 1']],
    ['{a: 1, "a": 2}', ['1:8 ~ duplicate ~ line 1']],
    ['a:\n\tb: 1', ['2:1 ~ tab ~ spaces']],
    ['a: 1\n---\nb: 2', ['2:1 ~ second document']],
    ['a: 1\n--- !env x', ['2:1 ~ second document']],
    ['l:\n  - ok\n  - !foo x', ['3:5 ~ unknown tag ~ quotes']],
    ['a: !!binary aGVsbG8=', ['1:4 ~ unknown tag ~ quotes']],
    ['a: !!js/function x', ['1:4 ~ unknown tag ~ quotes']],
    ['a: !env', ['1:4 ~ !env DROPCAST_API_KEY']],
    ['a: !file {b: c}', ['1:4 ~ api_key: !file api_key']],
    ['a: *b', ['1:4 ~ anchor ~ quotes']],
    ['a: &b [*b]', ['1:8 ~ alias']],
    ['? [a]\n: 1', ['1:3 ~ key']],
    ['!env : 3', ['1:1 ~ !env DROPCAST_API_KEY', '1:6 ~ key']],
    ['a: "x\\0y"', ['1:4 ~ contains']],
    ['a: "\\uD800"', ['1:4 ~ contains']],
    ['a: 1\nb: x\0y', ['2:5 ~ U+0000']],
    ['a: \u001b[2J', ['1:4 ~ U+001B']],
    ['a: @x\nb: `x', ['1:4 ~ @ ~ quotes', '2:4 ~ ` ~ quotes']],
    ['%YAML 1.1\n---\na: yes', ['1:1 ~ %YAML 1.1 ~ 1.2']],
    ['a: "\\q"', ['1:5 ~ escape']],
    ['a: "open\nb: 1', ['2:5 ~ not closed']],
  ])('%j', (text, problems) => {
    expectProblems(wrong(text), problems);
  });

  it.each([
    'k: "a"sk_live',
    'k: |sk_live\n x',
    'k: *sk_live',
    'k: !sk_live',
    'k: sk_live: x',
    'k: "\\xsk_live"',
    'k: [sk_live',
  ])('never repeats what may be a key: %j', (text) => {
    expect(wrong(text).join()).not.toBe('');
    expect(wrong(text).join()).not.toContain('live');
  });
});

describe('attacks', () => {
  const bomb = `a: &a [x, x, x, x, x, x, x, x, x]\n${'bcdefghi'
    .split('')
    .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(', ')}]`)
    .join('\n')}`;

  it.each([
    ['aliases of aliases', bomb, '100000'],
    ['brackets', '['.repeat(20_000), 'nested too deeply'],
    ['dashes', '- '.repeat(20_000), 'nested too deeply'],
    ['mappings', '{a: '.repeat(20_000), 'nested too deeply'],
    ['a hundred closed brackets', '['.repeat(100) + ']'.repeat(100), 'nested too deeply'],
    ['size', '#'.repeat(1024 * 1024 + 1), 'longer than 1024 KiB'],
  ])('%s are refused', (_, text, message) => {
    expect(wrong(text)[0]).toContain(message);
  });

  // The library's own search for duplicates compares all with all: 18 s for 40,000 keys.
  it('of many keys cost little', () => {
    const text = Array.from({ length: 20_000 }, (_, index) => `key${index}: 1`).join('\n');
    expect(wrong(text)).toEqual([]);
  });

  // The search for the key of each tag took 28 s for a file full of them.
  it('only the first of many unknown tags are listed', () => {
    expect(wrong('- !u x\n'.repeat(5000))).toHaveLength(20);
  });
});

describe('sidecars', () => {
  it('are plain data, and JSON is YAML', () => {
    expect(parseYaml('title: x\ntags: [a]\n')).toEqual({ ok: true, value: { title: 'x', tags: ['a'] } });
    expect(parseYaml('{"title": "x",\n\t"tags": ["a"]}')).toEqual({ ok: true, value: { title: 'x', tags: ['a'] } });
  });

  it('know none of our tags', () => {
    const read = parseYaml('ok: 1\ntitle: !file /etc/passwd');
    expect(read).toMatchObject({ ok: false, line: 2, column: 8, message: expect.stringContaining('unknown tag') });
  });

  it('are refused beyond 64 KiB and at the first problem', () => {
    expect(parseYaml('x'.repeat(64 * 1024)).ok).toBe(true);
    const fullest = {
      title: 'x'.repeat(1000),
      tags: Array.from({ length: 100 }, (_, n) => `tag ${n}`),
      publish: ['a', 'b'],
    };
    const description = 'Words, commas: and - dashes; "quotes" [brackets].\n'.repeat(400);
    const indented = description.replaceAll(/^(?=.)/gm, '  ');
    for (const text of [
      JSON.stringify({ ...fullest, description }, null, 2),
      `description: |\n${indented}tags:\n${fullest.tags.map((tag) => `  - ${tag}\n`).join('')}`,
    ])
      expect(parseYaml(text)).toMatchObject({ ok: true, value: { description } });
    expect(parseYaml('x'.repeat(64 * 1024 + 1))).toEqual({
      ok: false,
      line: 1,
      column: 1,
      message: expect.stringContaining('64 KiB'),
    });
    expect(parseYaml('a: 1\nb: *c\na: 2')).toMatchObject({ ok: false, line: 2, column: 4 });
  });
});

it('points at the nearest parent of what is not written', () => {
  const { locate } = parseConfigDocument('a:\n  b: [x, {c: 1}]\nd: &d\n  e: 1\nf: *d\n');
  const at = (...path: (string | number)[]) => locate(path, 'value');
  expect(at('a', 'b', 1, 'c')).toEqual({ line: 2, column: 14 });
  expect(at('a', 'b', 1, 'z')).toEqual({ line: 2, column: 10 });
  expect(at('a', 'z')).toEqual({ line: 1, column: 1 });
  expect(at('a', 'b', 9)).toEqual({ line: 2, column: 3 });
  expect(at('f')).toEqual({ line: 5, column: 4 });
  expect(at('f', 'e')).toEqual({ line: 4, column: 6 });
  expect(at('nowhere', 0, 'x')).toEqual({ line: 1, column: 1 });
});

// 64 KiB of these took up to a second of a small server without a JIT compiler.
it.each([
  '[',
  '[a,',
  '{a: ',
  '- ',
  '- a\n',
  '? ',
  ': ',
  '[*a,',
  '&a ',
  '!a ',
  '"',
  'a: [b, {c: d}]\n',
  'a:\n',
  '- |\n',
])('a sidecar full of %j is refused for its many parts, before they are parsed', (unit) => {
  const message = 'more than 1,500 parts, the maximum; a sidecar needs a few lines';
  expect(parseYaml(unit.repeat(64 * 1024).slice(0, 64 * 1024))).toEqual({ ok: false, line: 1, column: 1, message });
});
