import { describe, expect, test } from 'vitest';
import { clipped, htmlOf, lineOf } from '../../../packages/sandbox/src/feeds/text.ts';

describe('a text of a client', () => {
  test.each([
    [' a\t\r\n b ', 'a b'],
    ['a\u0001b', 'ab'],
    ['\u0001\u0002 ', ''],
    ['a\u2028b\u00a0c', 'a b c'],
  ])('%j becomes the line %j', (text, line) => {
    expect(lineOf(text)).toBe(line);
  });

  test('is cut by whole characters, and the cut shows', () => {
    expect(clipped('abcdef', 6)).toBe('abcdef');
    expect(clipped('abcdefg', 6)).toBe('abcde…');
    expect(clipped('😀'.repeat(6), 6)).toBe('😀'.repeat(6));
    expect(clipped('😀'.repeat(7), 6)).toBe(`${'😀'.repeat(5)}…`);
    expect(clipped('abcd efgh', 6)).toBe('abcd…');
  });

  test('becomes HTML that shows the same text', () => {
    expect(htmlOf(' <script>&"\r\nsecond ', Infinity)).toBe('&lt;script&gt;&amp;&quot;<br>second');
  });

  test.each([4000, 4001, 4002, 4003, 4004])(
    'is cut to %d bytes of HTML, never inside a reference or character',
    (maxBytes) => {
      for (const unit of ['&', '😀', 'é', '\n<']) {
        const html = htmlOf(unit.repeat(5000), maxBytes);
        expect(Buffer.byteLength(html)).toBeLessThanOrEqual(maxBytes);
        expect(Buffer.byteLength(html)).toBeGreaterThan(maxBytes - 12);
        expect(html).toMatch(/^(?:&amp;|😀|é|<br>|&lt;)+…$/u);
      }
    },
  );
});
