import { expect, test } from 'vitest';
import { renderDetails } from '../../../src/cli/output/details.ts';

test('values stand under each other, and what is not known is left out', () => {
  const details = [
    { label: 'id', value: 'vid_1' },
    { label: 'why', value: null },
    { label: 'thumbnail', value: 'https://example.com/1.jpg' },
  ];
  expect(renderDetails(details, false)).toBe('id         vid_1\nthumbnail  https://example.com/1.jpg\n');
  expect(renderDetails([], false)).toBe('');
});

test('a hostile value stays on its line; only lines that were meant as such are lines', () => {
  const details = [
    { label: 'title', value: 'a\nid  vid_2\u{1B}[2J\u202E' },
    { label: 'text', value: ['one', 'id  vid_2\r'] },
  ];
  expect(renderDetails(details, false)).toBe(
    [String.raw`title  a\nid  vid_2\x1b[2J\u202e`, 'text   one', String.raw`       id  vid_2\r`, ''].join('\n'),
  );
});

test('colour is around the value alone, and only if wanted', () => {
  const details = [{ label: 'status', value: 'ready', style: 'green' as const }];
  expect(renderDetails(details, true)).toBe('status  \u{1B}[32mready\u{1B}[39m\n');
  expect(renderDetails(details, false)).toBe('status  ready\n');
});
