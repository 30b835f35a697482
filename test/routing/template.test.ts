import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  renderDescription,
  renderDirectory,
  renderTags,
  renderTitle,
  TEMPLATE_WORDS,
} from '../../src/routing/template.ts';
import { hostileText, hostileTime } from './generators.ts';

const FILE = { path: 'news/evening/My_first.clip.MP4', modifiedMs: Date.UTC(2024, 1, 29, 23, 59, 59) };

const hostileContext = fc.record({
  path: hostileText,
  modifiedMs: hostileTime,
  captures: fc.dictionary(fc.constantFrom('show', 'title', 'dirs', '__proto__'), hostileText),
});
const hostileTemplate = fc
  .array(
    fc.oneof(
      hostileText,
      fc.constantFrom(...TEMPLATE_WORDS, 'show', 'nobody').map((word) => `{${word}}`),
    ),
    { maxLength: 5 },
  )
  .map((parts) => parts.join(''));

/** The day of this machine, which has no zone of its own in a date. */
const localDay = (atMs: number): string => new Date(atMs).toLocaleDateString('sv-SE');

describe('a word', () => {
  test.each([
    ['{title}', 'My first clip'],
    ['{name}', 'My_first.clip'],
    ['{ext}', 'MP4'],
    ['{path}', 'news/evening/My_first.clip.MP4'],
    ['{dir}', 'news/evening'],
    ['{dirs}', 'news/evening'],
    ['{date}', '2024-02-29'],
    ['{date:local}', localDay(FILE.modifiedMs)],
    ['{show}: {title} ({date})', 'Evening: My first clip (2024-02-29)'],
    ['{{show}} {{{show}}}', '{show} {Evening}'],
    ['{nobody}', '{nobody}'],
    ['a { b', 'a { b'],
  ])('%j becomes %j', (template, text) => {
    expect(renderTitle(template, { ...FILE, captures: { show: 'Evening' } })).toBe(text);
  });

  test('that a capture hides gives the capture', () => {
    expect(renderTitle('{date}', { ...FILE, captures: { date: '1999' } })).toBe('1999');
  });

  test('in a file name is not a template word', () => {
    expect(renderTitle('{name} {show}', { path: '{date}{{.mp4', modifiedMs: 0, captures: { show: '{title}' } })).toBe(
      '{date}{{ {title}',
    );
  });

  test.each([
    [Number.NaN, 'undated'],
    [8.65e15, 'undated'],
    [-1, '1969-12-31'],
    [0.7, '1970-01-01'],
  ])('{date} of %j is %j', (modifiedMs, text) => {
    expect(renderTitle('{date}', { path: 'a', modifiedMs })).toBe(text);
  });
});

describe('a title', () => {
  test.each([
    ['two\n  lines\u0000\t.mp4', 'two lines'],
    ['___.mp4', '___'],
    ['a/\n', 'untitled'],
    ['', 'untitled'],
    ['Folge_1.Teil_2.mp4', 'Folge 1 Teil 2'],
    ['👩‍👩‍👧 family.mov', '👩‍👩‍👧 family'],
    ['\uD800.mp4', '\uFFFD'],
  ])('of %j is %j', (path, title) => {
    expect(renderTitle('{title}', { path, modifiedMs: 0 })).toBe(title);
  });

  test('that would be empty is the file name', () => {
    expect(renderTitle('{dir}', { path: 'clip_1.mp4', modifiedMs: 0 })).toBe('clip_1.mp4');
  });

  test('is one line and never empty, for any file and any template', () => {
    fc.assert(
      fc.property(hostileTemplate, hostileContext, (template, context) => {
        const title = renderTitle(template, context);
        expect(title).toMatch(/^\P{Cc}+$/u);
        expect(title).toBe(title.trim());
        expect(title.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('tags', () => {
  test('are one for each sub-folder where the template is exactly {dirs}', () => {
    expect(renderTags(['news', '{dirs}', 'in {dirs}'], FILE)).toEqual(['news', 'evening', 'in news/evening']);
  });

  test('are trimmed, without empty ones, each once', () => {
    expect(renderTags([' a ', 'a', '', ' \n ', '{dir}', '{dirs}'], { path: 'clip.mp4', modifiedMs: 0 })).toEqual(['a']);
  });

  test('are never empty, doubled or more than one line', () => {
    fc.assert(
      fc.property(fc.array(hostileTemplate), hostileContext, (templates, context) => {
        const tags = renderTags(templates, context);
        expect(new Set(tags).size).toBe(tags.length);
        for (const tag of tags) expect(tag).toMatch(/^\P{Cc}+$/u);
      }),
    );
  });
});

describe('a description', () => {
  test('keeps the lines of the template and makes one line of a value', () => {
    const context = { path: 'a\nb/c.mp4', modifiedMs: 0 };
    expect(renderDescription('From {dir}\r\n\n{date}\u0007\n', context)).toBe('From a b\n\n1970-01-01');
  });

  test('without content is null', () => {
    expect(renderDescription(' {dir}\n', { path: 'a.mp4', modifiedMs: 0 })).toBeNull();
  });

  test('never throws', () => {
    fc.assert(
      fc.property(hostileTemplate, hostileContext, (template, context) => renderDescription(template, context) !== ''),
    );
  });
});

describe('a directory to move to', () => {
  test.each([
    ['done/{date}', 'done/2024-02-29'],
    ['done/{dir}', 'done/news/evening'],
    ['done/{dirs}/{ext}', 'done/news/evening/MP4'],
    ['./done//x/', 'done/x'],
    ['/abs/../x', 'abs/_/x'],
    ['.hidden', '_hidden'],
    ['', ''],
  ])('%j becomes %j', (template, directory) => {
    expect(renderDirectory(template, FILE)).toBe(directory);
  });

  test.each([
    ['{name}', '...mp4', '_'],
    ['done/{dir}', 'clip.mp4', 'done'],
    ['done/{dir}', '../../etc/x', 'done/_/_/etc'],
    ['done/{dir}', '/etc/x', 'done/etc'],
    ['{name}', 'a\0b\n.mp4', 'a_b_'],
    ['{name}', '..\\x.mp4', '_\\x'],
  ])('%j of %j is %j', (template, path, directory) => {
    expect(renderDirectory(template, { path, modifiedMs: 0 })).toBe(directory);
  });

  test('takes no slash from a capture', () => {
    expect(renderDirectory('done/{show}', { ...FILE, captures: { show: '../x' } })).toBe('done/__x');
  });

  test('never leads out of the folder, for any file and any template', () => {
    fc.assert(
      fc.property(hostileTemplate, hostileContext, (template, context) => {
        const directory = renderDirectory(template, context);
        expect(directory).not.toMatch(/^\/|\/$|\/\/|\p{Cc}/u);
        expect(directory.split('/').filter((segment) => segment.startsWith('.'))).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });
});

test.each([
  ['What now\uF025.mp4', 'What now?'],
  ['\uF020a\uF021b\uF022c\uF023d\uF024e\uF026f\uF027g.mp4', '"a*b:c<d>e\\f|g'],
  ['Interview\uF028.mp4', 'Interview'],
  ['a\uF00Db.mp4', 'a b'],
  ['Part 1\uF029.mp4', 'Part 1.'],
  ['\uE001\uF100.mp4', '\uE001\uF100'],
])('the characters that a Mac writes through SMB are as they were typed: %j', (path, title) => {
  expect(renderTitle('{title}', { path, modifiedMs: 0 })).toBe(title);
  expect(renderTags(['{name}'], { path, modifiedMs: 0 })).toEqual([title]);
});

test.each([
  ['\u200B.mp4', '\u200B.mp4'],
  ['\u3164', 'untitled'],
  ['\u{E0041}\uFE0F\u2800', 'untitled'],
  ['\u200Da.mp4', '\u200Da'],
])('a title in which nothing is visible is another one: %j', (path, title) => {
  expect(renderTitle('{title}', { path, modifiedMs: 0 })).toBe(title);
});

test('{date:local} is the day of the clock of this machine, also around midnight, and `undated` outside of the calendar', () => {
  const { TZ } = process.env;
  try {
    for (const [zone, at, day] of [
      ['Europe/Berlin', Date.UTC(2026, 10, 20, 23, 30), '2026-11-21'],
      ['Europe/Berlin', Date.UTC(2026, 10, 20, 22, 30), '2026-11-20'],
      ['America/New_York', Date.UTC(2026, 10, 21, 3, 0), '2026-11-20'],
      ['America/New_York', 8.64e15 + 1, 'undated'],
      ['America/New_York', -8.64e15, 'undated'],
    ] as const) {
      process.env.TZ = zone;
      expect(renderTitle('{date:local}', { path: 'a.mp4', modifiedMs: at })).toBe(day);
    }
  } finally {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  }
});
