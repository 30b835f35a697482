import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isImportLink, parseImportLink } from '../../src/routing/import-link.ts';

const plist = (
  body: string,
  head = '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
) => `<?xml version="1.0" encoding="UTF-8"?>\n${head}\n<plist version="1.0">\n<dict>\n${body}\n</dict>\n</plist>\n`;
const urlKey = (address: string) => `\t<key>URL</key>\n\t<string>${address}</string>`;

test.each([
  ['a/clip.url', true],
  ['CLIP.URL', true],
  ['clip.webloc', true],
  ['clip.url.mp4', false],
  ['url', false],
])('%j is a link file: %j', (path, isLink) => {
  expect(isImportLink(path)).toBe(isLink);
});

describe('a link file', () => {
  test.each([
    [
      'of Windows',
      '\uFEFF[InternetShortcut]\r\nIconIndex=0\r\nURL=https://example.com/a.mp4?x=1&y=[2]\r\n',
      'https://example.com/a.mp4?x=1&y=[2]',
    ],
    [
      'of Windows with other sections',
      '[x]\nURL=https://no.example\n[internetshortcut]\nurl = http://example.com/a\n[y]\nURL=b',
      'http://example.com/a',
    ],
    ['of a Mac', plist(urlKey('https://example.com/?a=1&amp;b=&quot;2')), 'https://example.com/?a=1&b=%222'],
    ['of a Mac without a document type', plist(urlKey('https://example.com/'), ''), 'https://example.com/'],
    ['of plain text', '  https://example.com/ü b.mp4\n'.replace(' b', ''), 'https://example.com/%C3%BC.mp4'],
    ['with doubly escaped text', plist(urlKey('https://example.com/?a=&amp;lt;')), 'https://example.com/?a=&lt;'],
    [
      'with a comment',
      plist(`<!-- ${urlKey('https://no.example')} -->${urlKey('https://example.com/')}`),
      'https://example.com/',
    ],
  ])('%s gives its address', (_, text, url) => {
    expect(parseImportLink('clip.url', text)).toEqual({ ok: true, url });
    expect(parseImportLink('clip.webloc', text)).toEqual({ ok: true, url });
  });

  test.each([
    ['nothing', ' \r\n', 'is empty'],
    ['a binary list', 'bplist00\u0000', 'is a binary property list; save the link as text, or as a .url file'],
    ['UTF-16', '[\0I\0', 'is not UTF-8 text'],
    ['too much', 'a'.repeat(70_000), 'is longer than a link file can be (65536 characters)'],
    ['another section', '[Desktop Entry]\nURL=https://example.com', 'has no [InternetShortcut] section'],
    ['no key', '[InternetShortcut]\nName=x', 'names no address'],
    ['an empty key', '[InternetShortcut]\nURL=\n', 'names no address'],
    ['two keys', '[InternetShortcut]\nURL=https://a.example\nURL=https://b.example', 'names more than one address'],
    ['two lines', 'https://a.example\nhttps://b.example', 'names more than one address'],
    ['two entries', plist(urlKey('https://a.example') + urlKey('https://b.example')), 'names more than one address'],
    ['no entry', plist('<key>Name</key><string>x</string>'), 'names no address'],
    ['a web page', '<html>https://a.example</html>', 'is XML, but no property list'],
    [
      'entities',
      plist(urlKey('&x;'), '<!DOCTYPE plist [<!ENTITY x "https://a.example">]>'),
      'declares XML entities, which are not read',
    ],
    ['words', 'tomorrow', 'names no complete address; it must start with https:// or http://'],
    ['a file', 'file:///etc/passwd', 'names an address that is neither https nor http'],
    ['a script', 'javascript:alert(1)', 'names an address that is neither https nor http'],
    ['a password', 'https://me:geheim@example.com/', 'names an address with a user name or password in it'],
    ['a user', 'https://me@example.com/', 'names an address with a user name or password in it'],
    ['a space', 'https://example.com/a b', 'names an address with white space in it'],
    ['a long address', `https://example.com/${'a'.repeat(4096)}`, 'names an address longer than 4096 characters'],
    [
      'an address that grows',
      `https://example.com/${'ü'.repeat(1000)}`,
      'names an address longer than 4096 characters',
    ],
  ])('with %s is refused', (_, text, why) => {
    expect(parseImportLink('a/clip.url', text)).toEqual({ ok: false, why: `the link file "clip.url" ${why}` });
  });

  test('never shows its address when it is refused', () => {
    const address = fc.webUrl({ withQueryParameters: true }).map((url) => url.replace('://', '://user:geheim@'));
    fc.assert(
      fc.property(address, (url) => {
        const read = parseImportLink('clip.url', url);
        expect(read.ok ? read.url : read.why).not.toContain('geheim');
      }),
      { numRuns: 30 },
    );
  });

  test('with anything in it gives an http address or a reason, in bounded time', () => {
    const text = fc.array(
      fc.oneof(
        fc.string(),
        fc.constantFrom('<key>URL</key>', '<string>', '[InternetShortcut]\n', 'URL=', 'https://a', '<plist>', '<!--'),
      ),
    );
    fc.assert(
      fc.property(text, (parts) => {
        const read = parseImportLink('clip.url', parts.join(''));
        if (read.ok)
          expect(new URL(read.url)).toMatchObject({
            protocol: expect.stringMatching(/^https?:$/),
            username: '',
            password: '',
          });
      }),
    );
    const started = performance.now();
    for (const part of ['<!--', '<key>URL</key> ', '<!DOCTYPE ', '<key>URL</key><string>']) {
      parseImportLink('a.webloc', `<plist>${part.repeat(65_000 / part.length)}`);
    }
    expect(performance.now() - started).toBeLessThan(500);
  });
});
