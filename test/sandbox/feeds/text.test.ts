import { describe, expect, test } from 'vitest';
import { clipped, clippedBytes, htmlOf, lineOf, plainOf } from '../../../packages/sandbox/src/feeds/text.ts';

describe('a text of a client', () => {
  test.each([
    [' a\t\r\n b ', 'a b'],
    ['a\u0001b', 'ab'],
    ['\u0001\u0002 ', ''],
    ['a\u2028b\u00a0c', 'a b c'],
    ['a\u007fb\u0080c\u009fd', 'abcd'],
    ['a\u0085b', 'a b'],
    ['a\ufffdb\ufdd0c\u{1fffe}d', 'abcd'],
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

  test.each([
    [' a & b < c\r\nd ', 'a & b < c\nd'],
    ['How to use <br> and &amp;', 'How to use <br> and &amp;'],
    ['<b>bold</b> <3', '< b>bold< /b> <3'],
    ['</title></item> a', '< /title>< /item> a'],
    ['\u0001\u0091', ''],
  ])('%j becomes the plain text %j, which no reader takes for HTML', (text, plain) => {
    expect(plainOf(text)).toBe(plain);
  });

  test.each([4000, 4001, 4002, 4003])('is cut to %d bytes, never inside a character', (maxBytes) => {
    for (const unit of ['a', '😀', 'é']) {
      const text = clippedBytes(unit.repeat(5000), maxBytes);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
      expect(Buffer.byteLength(text)).toBeGreaterThan(maxBytes - 4);
      expect(text).toMatch(/^(?:a|😀|é)+…$/u);
    }
    expect(clippedBytes('whole', maxBytes)).toBe('whole');
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
