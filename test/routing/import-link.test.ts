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
    ['with a numeric entity', plist(urlKey('https://example.com/?a=1&#38;b=&#x32;')), 'https://example.com/?a=1&b=2'],
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
    ['nothing', ' \r\n', 'empty'],
    ['a binary list', 'bplist00\u0000', 'binary'],
    ['UTF-16', '[\0I\0', 'UTF-8'],
    ['too much', 'a'.repeat(70_000), '65536'],
    ['another section', '[Desktop Entry]\nURL=https://example.com', '[InternetShortcut]'],
    ['no key', '[InternetShortcut]\nName=x', 'no address'],
    ['an empty key', '[InternetShortcut]\nURL=\n', 'no address'],
    ['two keys', '[InternetShortcut]\nURL=https://a.example\nURL=https://b.example', 'more than one'],
    ['two lines', 'https://a.example\nhttps://b.example', 'more than one'],
    ['two entries', plist(urlKey('https://a.example') + urlKey('https://b.example')), 'more than one'],
    ['no entry', plist('<key>Name</key><string>x</string>'), 'no address'],
    ['a web page', '<html>https://a.example</html>', 'property list'],
    ['entities', plist(urlKey('&x;'), '<!DOCTYPE plist [<!ENTITY x "https://a.example">]>'), 'entities'],
    ['words', 'tomorrow', 'https://'],
    ['a file', 'file:///etc/passwd', 'neither https nor http'],
    ['a script', 'javascript:alert(1)', 'neither https nor http'],
    ['a password', 'https://me:geheim@example.com/', 'password'],
    ['a user', 'https://me@example.com/', 'password'],
    ['a space', 'https://example.com/a b', 'white space'],
    ['a long address', `https://example.com/${'a'.repeat(4096)}`, '4096'],
    ['an address that grows', `https://example.com/${'ü'.repeat(1000)}`, '4096'],
  ])('with %s is refused', (_, text, fact) => {
    const why = expect.stringMatching(/"clip\.url"/);
    const read = parseImportLink('a/clip.url', text);
    expect(read).toEqual({ ok: false, why });
    expect(read.ok || read.why).toContain(fact);
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
    for (const part of ['<!--', '<key>URL</key> ', '<!DOCTYPE ', '<key>URL</key><string>']) {
      parseImportLink('a.webloc', `<plist>${part.repeat(65_000 / part.length)}`);
    }
  });
});
