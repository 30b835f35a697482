import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import type { Column, Detail } from '../../../src/cli/output/table.ts';
import { renderDetails, renderTable } from '../../../src/cli/output/table.ts';
import { displayWidth } from '../../../src/cli/output/text-width.ts';
import { fakeShell } from '../api/fake-shell.ts';

const COLUMNS: readonly Column[] = [
  { title: 'FILE', cut: 'middle' },
  { title: 'STATE', style: (cell) => (cell === 'failed' ? 'red' : null) },
  { title: 'SIZE', align: 'right' },
];
const lines = (rows: readonly (readonly string[])[], width = Infinity, colour = false) =>
  renderTable(COLUMNS, rows, { width, colour }).split('\n').slice(0, -1);

test('columns stand under each other by what is seen, whatever is in them', () => {
  const table = lines([
    ['日本.mp4', 'done', '12 MB'],
    ['👩‍👩‍👧.mp4', 'failed', '3 B'],
    ['e\u0301.mp4', 'done', '1.2 GB'],
  ]);
  expect(table).toEqual([
    'FILE      STATE     SIZE',
    '日本.mp4  done     12 MB',
    '👩‍👩‍👧.mp4    failed     3 B',
    'e\u0301.mp4     done    1.2 GB',
  ]);
});

test('a table wider than the terminal cuts the flexible column, paths in the middle', () => {
  const table = lines([['news/2026/11/20/a-very-long-recording-part-12.mp4', 'awaiting publish', '12 MB']], 50);
  expect(table[1]).toBe('news/2026/11…-part-12.mp4  awaiting publish  12 MB');
  expect(Math.max(...table.map((line) => displayWidth(line)))).toBeLessThanOrEqual(50);
});

test.each([10, 12, 15, 20, 30, 79])('no line is wider than a terminal of %i columns', (width) => {
  const rows = [['日'.repeat(60), 'x'.repeat(40), '9'.repeat(20)]];
  for (const line of lines(rows, width, true)) expect(displayWidth(line)).toBeLessThanOrEqual(width);
});

test('a hostile cell stays on its row and sends nothing to the terminal', () => {
  const table = lines([['a\nb\u{1B}[2J\u202E', 'done', '']]);
  expect(table).toHaveLength(2);
  expect(table[1]).toBe(String.raw`a\nb\x1b[2J\u202e  done`);
});

test('colours change nothing but the colour', () => {
  const rows = [
    ['a.mp4', 'failed', '1 B'],
    ['b.mp4', 'done', '1 B'],
  ];
  const coloured = lines(rows, 40, true);
  expect(coloured[1]).toContain('\u{1B}[31mfailed\u{1B}[39m');
  expect(coloured.map((line) => stripVTControlCharacters(line))).toEqual(lines(rows, 40));
});

test('missing cells are empty and a table without rows is its titles', () => {
  expect(lines([['a']])).toEqual(['FILE  STATE  SIZE', 'a']);
  expect(lines([])).toEqual(['FILE  STATE  SIZE']);
});

test('values stand under each other, and what is not known is left out', () => {
  const details: readonly Detail[] = [
    ['id', 'vid_1'],
    ['why', null],
    ['thumbnail', 'https://example.com/1.jpg'],
  ];
  expect(renderDetails(details, fakeShell())).toBe('id         vid_1\nthumbnail  https://example.com/1.jpg\n');
  expect(renderDetails([], fakeShell())).toBe('');
});

test('a hostile value stays on its line; only lines that were meant as such are lines', () => {
  const details: readonly Detail[] = [
    ['title', 'a\nid  vid_2\u{1B}[2J\u202E'],
    ['text', ['one', 'id  vid_2\r']],
  ];
  expect(renderDetails(details, fakeShell())).toBe(
    [String.raw`title  a\nid  vid_2\x1b[2J\u202e`, 'text   one', String.raw`       id  vid_2\r`, ''].join('\n'),
  );
});

test('colour is around the value alone, and only if wanted', () => {
  const details: readonly Detail[] = [['status', 'ready', 'green']];
  expect(renderDetails(details, fakeShell({ isTerminal: true }))).toBe('status  \u{1B}[32mready\u{1B}[39m\n');
  expect(renderDetails(details, fakeShell())).toBe('status  ready\n');
});
