import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { presentable } from '../../../packages/sandbox/src/feeds/text.ts';
import { readXml } from './read-xml.ts';
import { element, textElement, xmlDocument } from '../../../packages/sandbox/src/feeds/xml.ts';

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n';

describe('the XML writer', () => {
  test('puts elements on their own lines, and no white space around texts', () => {
    const root = element('a', {}, [textElement('b', '  text '), element('c', { d: 1 }, [textElement('e', true)])]);
    expect(xmlDocument(root)).toBe(`${HEAD}<a>\n  <b>text</b>\n  <c d="1">\n    <e>true</e>\n  </c>\n</a>\n`);
  });

  test('keeps the order of children and attributes, and leaves out undefined ones', () => {
    const children = [textElement('z', 1), undefined, textElement('a', 2)];
    expect(xmlDocument(element('r', { z: 1, no: undefined, a: false }, children))).toBe(
      `${HEAD}<r z="1" a="false">\n  <z>1</z>\n  <a>2</a>\n</r>\n`,
    );
  });

  test('writes an empty element for no text', () => {
    expect(xmlDocument(textElement('a', '\u0001 '))).toBe(`${HEAD}<a></a>\n`);
    expect(xmlDocument(element('a', {}))).toBe(`${HEAD}<a/>\n`);
  });

  test.each([
    ['markup', '<b>&amp;', '&#x3C;b&gt;&#x26;amp;'],
    ['the end of a CDATA section', ']]>', ']]&gt;'],
    ['a carriage return inside', 'a\rb', 'a&#xD;b'],
    ['control characters', 'a\u0000\u0008\u000b\u001fb', 'ab'],
    ['white space behind a control character', '\u0001 a \u0002', 'a'],
    ['lone surrogates and non-characters', 'a\ud83d\ufffe\udc00\uffffb', 'ab'],
    ['emoji and right-to-left text', '😀 مرحبا', '😀 مرحبا'],
  ])('writes %s in a text so that it arrives', (_what, text, written) => {
    expect(xmlDocument(textElement('a', text))).toBe(`${HEAD}<a>${written}</a>\n`);
  });

  test('writes quotes, tabs and line breaks in an attribute so that they arrive', () => {
    expect(xmlDocument(element('a', { b: 'x"y\t\n\r<&\'z' }))).toBe(
      `${HEAD}<a b="x&quot;y&#9;&#10;&#13;&lt;&amp;'z"/>\n`,
    );
  });

  test('any text is read back unchanged, except for characters that XML forbids', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (first, second) => {
        const read = readXml(xmlDocument(element('a', { b: second }, [textElement('c', first)])));
        expect(read.children[0]?.text).toBe(presentable(first).trim());
        expect(read.attributes.get('b')).toBe(presentable(second).trim());
      }),
      { numRuns: 40 },
    );
  });
});
